// How the log holds what an event says of a person.
import Type, { type Static } from 'typebox'
import { isUuid, uuid } from '../json.js'

export const Sealed = Type.Object({
  person: Type.String({
    pattern: '^[^-]+-[^-]+$',
    description: 'The digests of user and phone number: the key is on the stream `person-<this>`.'
  }),
  key_id: Type.String({ pattern: uuid, description: 'A person may have had several keys, one after the other.' }),
  text: Type.String({ description: 'Encrypted with AES-256-GCM: nonce, tag and cipher text in base64.' })
}, {
  title: 'Sealed',
  description: 'What the event says of a person, under a key of its own. Once that was erased, nobody can read it.'
})
export type Sealed = Static<typeof Sealed>

/** Data of an event, or a part of it. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Two digests have 65 characters. Anybody can append anything: what is longer names no person, and takes no memory. */
const longestPerson = 200
const isPerson = (person: string) => person.length <= longestPerson && /^[^-]+-[^-]+$/.test(person)
const isKeyId = (keyId: string) => keyId.length === 36 && isUuid(keyId)

/** One that has another shape is none: it stays where it is, and the event cannot be read. */
export function sealedIn (part: Fields): Sealed | undefined {
  const { sealed } = part
  if (!isFields(sealed)) return undefined
  const { person, key_id, text } = sealed
  if (typeof person !== 'string' || typeof key_id !== 'string' || typeof text !== 'string') return undefined
  return isPerson(person) && isKeyId(key_id) ? { person, key_id, text } : undefined
}
