// A user asked for the data of a person, on the stream `personrequest-<id>`. The number is not in it: its digest is.
import Type, { type Static } from 'typebox'
import { Instant, UserId, uuid } from '../../domain/json.js'

const personRequestTypes = ['export', 'erasure'] as const
export type PersonRequestType = typeof personRequestTypes[number]
export const RequestType = Type.Enum([...personRequestTypes], { title: 'PersonRequestType' })

const ids = { person_request_id: Type.String({ pattern: uuid }), user_id: UserId }

export const PersonRequested = Type.Object({
  ...ids,
  type: RequestType,
  number_digest: Type.String({
    pattern: '^[0-9a-f]{32}$', description: 'Of the phone number, keyed by LEAD_DIGEST_KEY: nobody reads the number from it.'
  }),
  requested_at: Instant()
})
export const PersonRequestCompleted = Type.Object({ ...ids, finished_at: Instant() })
export const PersonRequestFailed = Type.Object({ ...ids, finished_at: Instant() })

export type PersonRequestEvent =
  | { type: 'PersonRequested', data: Static<typeof PersonRequested> }
  | { type: 'PersonRequestCompleted', data: Static<typeof PersonRequestCompleted> }
  | { type: 'PersonRequestFailed', data: Static<typeof PersonRequestFailed> }

export const personRequestEventTypes = ['PersonRequested', 'PersonRequestCompleted', 'PersonRequestFailed'] as const

export const personRequestStream = (id: string) => `personrequest-${id}`
