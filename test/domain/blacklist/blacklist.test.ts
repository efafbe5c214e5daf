// What listing a number and taking it off lead to.
import t from 'tap'
import { blacklistDecider } from '../../../src/domain/blacklist/decide.js'
import type { BlacklistEvent } from '../../../src/domain/blacklist/events.js'
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

t.test('a number has one entry at a time, and the first one stays as it is', async (t) => {
  given([]).when(add(1, 'why')).then(t, [event(1, 'why')])
  given([event(1)]).when(add(2, 'another reason')).then(t, [])
  given([event(1), deleted(1)]).when(add(2)).then(t, [event(2)])
})

t.test('an entry is deleted by its user, once, and not for one that came later', async (t) => {
  given([event(1)]).when(remove(1)).then(t, [deleted(1)])
  const unknown = { code: 'not-found' as const }
  given([]).when(remove(1)).then(t, unknown)
  given([event(1)]).when(remove(1, '2')).then(t, unknown)
  given([event(1), deleted(1)]).when(remove(1)).then(t, unknown)
  given([event(1), deleted(1), event(2)]).when(remove(1)).then(t, unknown)
})
