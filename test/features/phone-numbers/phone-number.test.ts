// Claiming and freeing a phone number: which user holds it, and what becomes of a claim that ended.
import t from 'tap'
import {
  endedClaimDecider, holderDecider, phoneNumberDecider, type ClaimNumber
} from '../../../src/features/phone-numbers/model.js'
import type { HolderEvent, PhoneNumberEvent } from '../../../src/features/phone-numbers/events.js'
import { invalid, scenarios } from '../../support/commands/given.js'

const given = scenarios(holderDecider)

const claimed = (phone_number_id: number, user_id: string): HolderEvent =>
  ({ type: 'PhoneNumberClaimed', data: { phone_number_id, user_id } })
const freed = (phone_number_id: number, user_id: string): HolderEvent =>
  ({ type: 'PhoneNumberFreed', data: { phone_number_id, user_id } })
const claim = (phone_number_id: number, user_id: string, ...ended: number[]): ClaimNumber =>
  ({ type: 'claim', phone_number_id, user_id, ended: new Set(ended) })

t.test('one claim holds a number at a time, and is taken over only where it is over', async (t) => {
  given([]).when(claim(7, '1')).then(t, [claimed(7, '1')])
  given([claimed(7, '1')]).when(claim(7, '1')).then(t, [])
  given([claimed(7, '1')]).when(claim(8, '2')).then(t, [])
  given([claimed(7, '1')]).when(claim(8, '2', 7)).then(t, [freed(7, '1'), claimed(8, '2')])
  given([claimed(7, '1'), freed(7, '1'), claimed(8, '2')]).when(claim(9, '3', 7)).then(t, [])
})

t.test('only the id that holds a number frees it', async (t) => {
  given([claimed(7, '1')]).when({ type: 'free', phone_number_id: 7 }).then(t, [freed(7, '1')])
  given([claimed(7, '1')]).when({ type: 'free', phone_number_id: 8 }).then(t, [])
  given([]).when({ type: 'free', phone_number_id: 7 }).then(t, [])
})

t.test('a claim ends where no number was added, and then none is', async (t) => {
  const [ids, now, phone_number] = [{ phone_number_id: 7, user_id: '1' }, '2026-02-01T12:00:00.000Z', '+15551230001']
  const added: PhoneNumberEvent = { type: 'PhoneNumberAdded', data: { ...ids, phone_number } }
  const released: PhoneNumberEvent = { type: 'PhoneNumberReleased', data: { ...ids, released_at: now } }
  const ending = scenarios(endedClaimDecider)
  ending([]).when({ ...ids, now }).then(t, [released])
  for (const event of [added, released]) ending([event]).when({ ...ids, now }).then(t, [])
  const add = { type: 'add' as const, phone_number, ids: [7], userId: '1', now }
  scenarios(phoneNumberDecider)([released]).when(add).then(t, invalid({ phone_number: ['is taken already'] }))
})
