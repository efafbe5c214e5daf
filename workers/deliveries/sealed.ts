// Texts at rest, encrypted so that a copy of the database tells nothing.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** An encrypted text, and the id of the key that encrypted it. */
export interface SealedRow { key_id: string, sealed: string }

/** Keys of 32 bytes: the current one encrypts, all of them decrypt. */
export interface SecretKeys {
  current: Buffer
  previous: readonly Buffer[]
}

const nonceBytes = 12
const tagBytes = 16

/** Names a key without revealing it. */
export const keyId = (key: Buffer) =>
  createHash('sha256').update('ringledger secret key').update(key).digest('hex').slice(0, 16)

/** Encrypts `text` with AES-256-GCM, bound to its user so that rows cannot be swapped. */
export function seal ({ current }: SecretKeys, userId: string, text: string): SealedRow {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(userId))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return { key_id: keyId(current), sealed: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64') }
}

/** @throws Error when no key fits or the row was tampered with */
export function unseal ({ current, previous }: SecretKeys, userId: string, { key_id, sealed }: SealedRow): string {
  const key = [current, ...previous].find((candidate) => keyId(candidate) === key_id)
  if (!key) throw new Error(`no key ${key_id}: SECRET_KEY_PREVIOUS must list every key that encrypted a webhook secret`)
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(userId))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}
