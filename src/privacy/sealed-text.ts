// Texts at rest under SECRET_KEY, so that a copy of the database or of the log tells nothing.
import { createHash } from 'node:crypto'
import { decrypt, encrypt } from './aes.js'

/** An encrypted text, and the id of the key that encrypted it. */
export interface SealedRow { key_id: string, sealed: string }

/** Keys of 32 bytes: the current one encrypts, all of them decrypt. */
export interface SecretKeys {
  current: Buffer
  previous: readonly Buffer[]
}

/** Of keys that are in use, so that each is hashed once. */
const keyIds = new WeakMap<Buffer, string>()

/** Names a key without revealing it. */
export function keyId (key: Buffer): string {
  const known = keyIds.get(key)
  if (known !== undefined) return known
  const id = createHash('sha256').update('ringledger secret key').update(key).digest('hex').slice(0, 16)
  keyIds.set(key, id)
  return id
}

/** Encrypts `text`, bound to its owner, mostly a user, so that rows cannot be swapped. */
export function seal ({ current }: SecretKeys, owner: string, text: string): SealedRow {
  return { key_id: keyId(current), sealed: encrypt(current, owner, Buffer.from(text)).toString('base64') }
}

/** None of the keys that are set encrypted it. */
export class UnknownSecretKey extends Error {
  override readonly name = 'UnknownSecretKey'
}

/** @throws UnknownSecretKey, or Error when the row was tampered with */
export function unseal ({ current, previous }: SecretKeys, owner: string, { key_id, sealed }: SealedRow): string {
  const key = [current, ...previous].find((candidate) => keyId(candidate) === key_id)
  if (!key) throw new UnknownSecretKey(`no key ${key_id}: SECRET_KEY_PREVIOUS must list every key that is still needed`)
  return decrypt(key, owner, Buffer.from(sealed, 'base64')).toString()
}
