// What adding, releasing, importing and claiming a phone number leads to.
import t from 'tap'
import {
  endedClaimDecider, holderDecider, importedNumberDecider, phoneNumberDecider, type ClaimNumber
} from '../../../src/features/phone-numbers/model.js'
import type { HolderEvent, PhoneNumberEvent } from '../../../src/features/phone-numbers/events.js'
import { invalid, scenarios } from '../../support/commands/given.js'

const now = '2026-02-01T12:00:00.000Z'
const phone_number = '+15551230001'
const ids = { phone_number_id: 7, user_id: '1' }
const added: PhoneNumberEvent = { type: 'PhoneNumberAdded', data: { ...ids, phone_number } }
const released: PhoneNumberEvent = { type: 'PhoneNumberReleased', data: { ...ids, released_at: now } }
const unowned = { code: 'not-found' as const }

t.test('a number is added under its id once, and not where its claim was ended', async (t) => {
  const given = scenarios(phoneNumberDecider)
  const add = { type: 'add' as const, phone_number, ids: [7], userId: '1', now }
  given([]).when(add).then(t, [added])
  given([added]).when(add).then(t, { code: 'id-taken' })
  given([added, released]).when(add).then(t, { code: 'id-taken' })
  given([released]).when(add).then(t, invalid({ phone_number: ['is taken already'] }))
})

t.test('a number is released by its owner, once', async (t) => {
  const given = scenarios(phoneNumberDecider)
  const release = (userId = '1') => ({ type: 'release' as const, userId, now })
  given([added]).when(release()).then(t, [released])
  given([added, released]).when(release()).then(t, unowned)
  given([added]).when(release('2')).then(t, unowned)
  given([]).when(release()).then(t, unowned)
  given([released]).when(release()).then(t, unowned)
})

t.test('an imported number keeps its owner and its digits, and is not brought back', async (t) => {
  const given = scenarios(importedNumberDecider)
  const number = { ...ids, phone_number }
  given([]).when(number).then(t, [added])
  given([added]).when(number).then(t, [])
  given([added, released]).when(number).then(t, [])
  given([added]).when({ ...number, phone_number: '+15551230002' }).then(t, { code: 'catalog-conflict' })
  given([added]).when({ ...number, user_id: '2' }).then(t, { code: 'catalog-conflict' })
  given([released]).when(number).then(t, { code: 'catalog-conflict' })
})

t.test('a claim ends where no number was added, and then none is', async (t) => {
  const given = scenarios(endedClaimDecider)
  given([]).when({ ...ids, now }).then(t, [released])
  given([added]).when({ ...ids, now }).then(t, [])
  given([released]).when({ ...ids, now }).then(t, [])
})

const claimed = (phone_number_id: number, user_id: string): HolderEvent =>
  ({ type: 'PhoneNumberClaimed', data: { phone_number_id, user_id } })
const freed = (phone_number_id: number, user_id: string): HolderEvent =>
  ({ type: 'PhoneNumberFreed', data: { phone_number_id, user_id } })
const claim = (phone_number_id: number, user_id: string, ...ended: number[]): ClaimNumber =>
  ({ type: 'claim', phone_number_id, user_id, ended: new Set(ended) })

t.test('one claim holds a number at a time, and is taken over only where it is over', async (t) => {
  const given = scenarios(holderDecider)
  given([]).when(claim(7, '1')).then(t, [claimed(7, '1')])
  given([claimed(7, '1')]).when(claim(7, '1')).then(t, [])
  given([claimed(7, '1')]).when(claim(8, '2')).then(t, [])
  given([claimed(7, '1')]).when(claim(8, '2', 7)).then(t, [freed(7, '1'), claimed(8, '2')])
  given([claimed(7, '1'), freed(7, '1'), claimed(8, '2')]).when(claim(9, '3', 7)).then(t, [])
})

t.test('only the id that holds a number frees it', async (t) => {
  const given = scenarios(holderDecider)
  given([claimed(7, '1')]).when({ type: 'free', phone_number_id: 7 }).then(t, [freed(7, '1')])
  given([claimed(7, '1')]).when({ type: 'free', phone_number_id: 8 }).then(t, [])
  given([]).when({ type: 'free', phone_number_id: 7 }).then(t, [])
})
