// Encrypts texts at rest with SECRET_KEY, so that a copy of the database or the log reveals nothing.
import { createHash, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { isFields, type Fields } from '../domain/sealed.js'

/** An encrypted text, and the id of the key that encrypted it. */
export interface SealedRow { key_id: string, sealed: string }

/** Keys of 32 bytes: the current one encrypts, all of them decrypt. */
export interface SecretKeys {
  current: Buffer
  previous: readonly Buffer[]
}

/** Names a key without revealing it. */
export const keyId = (key: Buffer): string =>
  createHash('sha256').update('ringledger secret key').update(key).digest('hex').slice(0, 16)

/** Encrypts `text`, bound to its owner, mostly a user, so that rows cannot be swapped. */
export function seal ({ current }: SecretKeys, owner: string, text: string): SealedRow {
  return { key_id: keyId(current), sealed: encrypt(current, owner, Buffer.from(text)).toString('base64') }
}

export class UnknownSecretKey extends Error {
  override readonly name = 'UnknownSecretKey'
}

/** @throws UnknownSecretKey, or Error when the row was tampered with */
export function unseal ({ current, previous }: SecretKeys, owner: string, { key_id, sealed }: SealedRow): string {
  const key = [current, ...previous].find((candidate) => keyId(candidate) === key_id)
  if (!key) throw new UnknownSecretKey(`no key ${key_id}: SECRET_KEY_PREVIOUS must list every key that is still needed`)
  return decrypt(key, owner, Buffer.from(sealed, 'base64')).toString()
}

/** Texts from this size are deflated: Base64 adds a third, and a server takes events of at most one megabyte. */
const packedFrom = 64 * 1024
/** Limit of an inflated text; no event is larger. */
const mostBytes = 16 * 2 ** 20

/** The first byte of the plain text: deflated or not. */
const asIs = 0
const packed = 1

/** @param place the event and the place in it; it opens nowhere else */
export function sealText (key: Buffer, place: string, part: Fields): string {
  const json = Buffer.from(JSON.stringify(part))
  const text = json.length < packedFrom
    ? Buffer.concat([Buffer.of(asIs), json])
    : Buffer.concat([Buffer.of(packed), deflateRawSync(json)])
  return encrypt(key, place, text).toString('base64')
}

/** Undefined when it was not sealed for this place, or was changed. */
export function openText (key: Buffer, place: string, text: string): Fields | undefined {
  try {
    const bytes = decrypt(key, place, Buffer.from(text, 'base64'))
    const content = bytes.subarray(1)
    const json = bytes[0] === packed ? inflateRawSync(content, { maxOutputLength: mostBytes }) : content
    const part: unknown = JSON.parse(json.toString())
    return isFields(part) ? part : undefined
  } catch {
    return undefined
  }
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** `place` is authenticated too: the text can be decrypted nowhere else. A key is 32 bytes. */
function encrypt (key: Buffer, place: string, text: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place))
  const encrypted = [cipher.update(text), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted])
}

/** @throws Error when the key or the place differs, or the bytes were changed */
function decrypt (key: Buffer, place: string, bytes: Buffer): Buffer {
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(place)).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
}
