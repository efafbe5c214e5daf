// Settings of a running process: every secret is set or generated.
import { createHash, createHmac } from 'node:crypto'
import type { Config } from '../config.js'
import { phoneHash, type PhoneHash } from '../commands/phone-numbers.js'
import type { JwtSettings } from '../http/credentials.js'

export type CompleteConfig = Config & { jwt: JwtSettings, secrets: { secretKey: string, leadDigestKey: string } }

/** Keys for what is encrypted at rest, and for hiding phone numbers in stream names. */
export type KeySettings = Pick<CompleteConfig, 'secrets' | 'previousSecretKeys'>

/** The current key encrypts webhook secrets and keys of persons; the previous ones still decrypt them. */
export function secretKeys (
  { secrets, previousSecretKeys }: KeySettings
): { current: Buffer, previous: Buffer[] } {
  return { current: keyBytes(secrets.secretKey), previous: previousSecretKeys.map(keyBytes) }
}

/** Replaces phone numbers in stream names. */
export const digestOfNumbers = ({ secrets }: { secrets: { leadDigestKey: string } }): PhoneHash =>
  phoneHash(keyBytes(secrets.leadDigestKey))

/** Where notices for operators are sent; undefined when they want none. */
export function alertHook (config: CompleteConfig): { url: string, secret: string } | undefined {
  const { url } = config.alert
  return url === undefined ? undefined : { url, secret: alertSecret(config) }
}

/** The configured signing secret, or one derived from SECRET_KEY. */
export const alertSecret = ({ alert, secrets }: CompleteConfig) => alert.secret ??
  `whsec_${createHmac('sha256', keyBytes(secrets.secretKey)).update('ringledger alert webhook').digest('base64')}`

/** Derives a key of 32 bytes from a setting of any length and alphabet. */
export const keyBytes = (setting: string): Buffer => createHash('sha256').update(setting).digest()
