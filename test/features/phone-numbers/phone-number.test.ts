// Who holds a phone number: what claiming and freeing it lead to.
import t from 'tap'
import { holderDecider, type ClaimNumber } from '../../../src/features/phone-numbers/model.js'
import type { HolderEvent } from '../../../src/features/phone-numbers/events.js'
import { scenarios } from '../../support/commands/given.js'

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
