// What listing a number and taking it off lead to.
import t from 'tap'
import { blacklistDecider, erasedEntries, isListed } from '../../../src/features/blacklist/model.js'
import type { BlacklistEvent } from '../../../src/features/blacklist/events.js'
import { scenarios } from '../../support/commands/given.js'

const given = scenarios(blacklistDecider)
const now = '2026-02-01T12:00:00.000Z'
const phone_number = '+15551230001'
const event = (blacklist_id: number, reason: string | null = null): BlacklistEvent => ({
  type: 'PhoneNumberBlacklisted', data: { blacklist_id, user_id: '1', phone_number, reason, created_at: now }
})
const deleted = (blacklist_id: number): BlacklistEvent => ({
  type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id: '1', phone_number, deleted_at: now }
})
const add = (id: number, reason: string | null = null) =>
  ({ type: 'add' as const, phone_number, reason, ids: [id], userId: '1', now })
const remove = (blacklist_id: number, userId = '1') => ({ type: 'delete' as const, blacklist_id, ids: [], userId, now })

const known = { blacklist_id: 1, user_id: '1', created_at: now, isDeleted: false }
const erased: BlacklistEvent =
  { type: 'BlacklistEntryErased', data: { blacklist_id: 1, user_id: '1', created_at: now, erased_at: now } }
const deletedNumberless: BlacklistEvent =
  { type: 'PhoneNumberUnblacklisted', data: { blacklist_id: 1, user_id: '1', deleted_at: now } }

t.test('an erased entry holds without its number, and one that was deleted does not', async (t) => {
  t.strictSame(erasedEntries([known], now), [erased])
  t.strictSame(erasedEntries([{ ...known, isDeleted: true }], now), [erased, deletedNumberless])
  t.ok(isListed(given([event(1, 'why'), erased]).state()))
  t.notOk(isListed(given([erased, deletedNumberless]).state()))
  const { blacklist_id, user_id, created_at } = known
  const nameless = { phone_number: null, reason: null }
  t.strictSame(given([erased]).state(), { blacklist_id, user_id, created_at, ...nameless })
})

t.test('an erased entry is deleted by its id, and makes way for one with the number', async (t) => {
  given([erased]).when(remove(1)).then(t, [deletedNumberless])
  given([erased]).when(add(2, 'again')).then(t, [deletedNumberless, event(2, 'again')])
})

t.test('an entry is deleted by its user, once, and not for one that came later', async (t) => {
  given([event(1)]).when(remove(1)).then(t, [deleted(1)])
  const unknown = { code: 'not-found' as const }
  given([]).when(remove(1)).then(t, unknown)
  given([event(1)]).when(remove(1, '2')).then(t, unknown)
  given([event(1), deleted(1)]).when(remove(1)).then(t, unknown)
  given([event(1), deleted(1), event(2)]).when(remove(1)).then(t, unknown)
})
