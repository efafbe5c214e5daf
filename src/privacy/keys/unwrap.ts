// Keys of persons as they are: without the SECRET_KEY that they are kept under.
import type { KeptKey } from './ledger-keys.js'
import { wrappedFor } from './log-keys.js'
import { PersonKeyUnreadable } from './person-keys.js'
import { UnknownSecretKey, unseal, type SecretKeys } from '../sealed-text.js'

/** Nothing when it was erased. @throws PersonKeyUnreadable */
export function unwrap (secretKeys: SecretKeys, { person, keyId, wrapped }: KeptKey): Buffer | undefined {
  if (!wrapped) return undefined
  try {
    return Buffer.from(unseal(secretKeys, wrappedFor(person, keyId), wrapped), 'base64')
  } catch (cause) {
    throw new PersonKeyUnreadable(cause instanceof UnknownSecretKey ? otherKey : changed, { cause })
  }
}

/** Nothing when it cannot be read, too: who needs the key is told then. */
export function unwrapIfReadable (secretKeys: SecretKeys, kept: KeptKey): Buffer | undefined {
  try {
    return unwrap(secretKeys, kept)
  } catch (error) {
    if (error instanceof PersonKeyUnreadable) return undefined
    throw error
  }
}

/** What mends it. */
export const otherKey = 'the keys of persons in the log are encrypted with another SECRET_KEY: put the former one into ' +
  'SECRET_KEY_PREVIOUS, which takes several with commas between them'
const changed = 'the key of a person in the log was changed: restore the log, or put back the event'
