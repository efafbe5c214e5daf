// Events of do-not-call entries, on a stream for each number of a user.
import type { BlacklistEvent } from '../../../src/features/blacklist/events.js'
import type { Told } from './call-events.js'

const at = '2026-01-31T12:05:00.000Z'
const on = (phoneNumber: string, userId: string, event: BlacklistEvent): Told =>
  ({ stream: `blacklist-${userId}-${phoneNumber.slice(1)}`, ...event, metadata: { schema_version: '1' } })

export const listed = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberBlacklisted', data: { blacklist_id, user_id, phone_number, reason: null, created_at: at }
})

export const unlisted = (phone_number: string, blacklist_id = 1, user_id = '1') => on(phone_number, user_id, {
  type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, phone_number, deleted_at: at }
})
