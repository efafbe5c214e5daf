// AES-256-GCM with a random nonce: nonce, tag and cipher text in one.
import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** Drawn at once: asking the system costs as much as the cipher. */
const noncesAtOnce = 256

/** `place` is what the text belongs to: it can be decrypted nowhere else. A key is 32 bytes. */
export function encrypt (key: Buffer, place: string, text: Buffer): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place))
  const encrypted = [cipher.update(text), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted])
}

/** @throws Error when the key or the place is another one, or the bytes were changed */
export function decrypt (key: Buffer, place: string, bytes: Buffer): Buffer {
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(place)).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
}

const nonces = Buffer.alloc(noncesAtOnce * nonceBytes)
let used = nonces.length

/** Each is taken once, by a caller that copies it before the next one asks. */
function nextNonce (): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces)
    used = 0
  }
  return nonces.subarray(used, used += nonceBytes)
}
