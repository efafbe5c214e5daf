// Events of the do-not-call list, and a webhook that is on.
import { at, webhookTo, type Told } from '../../support/events/call-events.js'
import type { BlacklistEvent } from '../../../src/features/blacklist/events.js'

export const url = 'https://hooks.example.com/calls'
export const webhookOn = webhookTo(url)

const on = (phoneNumber: string, userId: string, event: BlacklistEvent): Told =>
  ({ stream: `blacklist-${userId}-${phoneNumber.slice(1)}`, ...event, metadata: { schema_version: '1' } })

export const listed = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberBlacklisted', data: { blacklist_id, user_id, phone_number, reason: null, created_at: at }
})

export const unlisted = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, phone_number, deleted_at: at }
})
