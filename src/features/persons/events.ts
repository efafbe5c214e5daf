// A user asked for the data of a person, on the stream `personrequest-<id>`, which holds the digest of the number only.
// The key that seals a person's data is on a stream of its own: `personKeyStream`.
import Type from 'typebox'
import { Instant, UserId, uuid } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const personRequestTypes = ['export', 'erasure'] as const
export type PersonRequestType = typeof personRequestTypes[number]
export const RequestType = Type.Enum([...personRequestTypes], { title: 'PersonRequestType' })

const ids = { person_request_id: Type.String({ pattern: uuid }), user_id: UserId }

export const personRequestEvents = {
  PersonRequested: firstVersion(Type.Object({
    ...ids,
    type: RequestType,
    number_digest: Type.String({
      pattern: '^[0-9a-f]{32}$', description: 'Digest of the phone number, keyed by LEAD_DIGEST_KEY: nobody reads the number from it.'
    }),
    requested_at: Instant()
  })),
  PersonRequestCompleted: firstVersion(Type.Object({ ...ids, finished_at: Instant() })),
  PersonRequestFailed: firstVersion(Type.Object({ ...ids, finished_at: Instant() }))
}
export type PersonRequestEvent = EventOf<typeof personRequestEvents>
export const personRequestEventTypes = typesOf(personRequestEvents)

export const personRequestStream = (id: string) => `personrequest-${id}`

const KeyId = Type.String({ pattern: uuid, description: 'Names the key, also in what is sealed under it.' })

export const personKeyEvents = {
  PersonKeyCreated: firstVersion(Type.Object({
    key_id: KeyId,
    wrapped_by: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Which SECRET_KEY the key is encrypted with.' }),
    wrapped: Type.String({ description: 'The key, encrypted with AES-256-GCM: nonce, tag and cipher text in base64.' }),
    created_at: Instant()
  })),
  /** The last event of the stream. A scavenge leaves it, so it holds nothing of the key. */
  PersonKeyErased: firstVersion(Type.Object({ key_id: KeyId, erased_at: Instant() }))
}
export type PersonKeyEvent = EventOf<typeof personKeyEvents>
