// The key that a person's data is sealed under, on the stream `person-<digest of the user>-<digest of the number>`.
import Type, { type Static } from 'typebox'
import { Instant, uuid } from '../../domain/json.js'

const KeyId = Type.String({ pattern: uuid, description: 'Names the key, also in what is sealed under it.' })

export const PersonKeyCreated = Type.Object({
  key_id: KeyId,
  wrapped_by: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Which SECRET_KEY the key is encrypted with.' }),
  wrapped: Type.String({ description: 'The key, encrypted with AES-256-GCM: nonce, tag and cipher text in base64.' }),
  created_at: Instant()
})

/** The last event of the stream, which a scavenge leaves: so nothing of the key is in it. */
export const PersonKeyErased = Type.Object({ key_id: KeyId, erased_at: Instant() })

export type PersonKeyCreatedEvent = { type: 'PersonKeyCreated', data: Static<typeof PersonKeyCreated> }
export type PersonKeyErasedEvent = { type: 'PersonKeyErased', data: Static<typeof PersonKeyErased> }
export type PersonKeyEvent = PersonKeyCreatedEvent | PersonKeyErasedEvent

/** A person as one user knows it; the digests hide who both are. */
export const personOf = (userDigest: string, numberDigest: string) => `${userDigest}-${numberDigest}`

export const personKeyStream = (person: string) => `person-${person}`

/** Nothing when the stream is not one of a person. */
export const personIn = (stream: string) => /^person-([^-]+-[^-]+)$/.exec(stream)?.[1]

/** Which digests are right only a process with their key can tell. */
export const isPersonKeyStream = (stream: string) => personIn(stream) !== undefined
