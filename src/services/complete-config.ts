// The settings of a process that runs: every secret is there.
import { createHash, createHmac } from 'node:crypto'
import type { Config } from '../config.js'
import { phoneHash, type PhoneHash } from '../commands/phone-numbers.js'
import type { JwtSettings } from '../http/credentials.js'

/** Config with every secret: set, or generated. */
export type CompleteConfig = Config & { jwt: JwtSettings, secrets: { secretKey: string, leadDigestKey: string } }

/** What is encrypted at rest is encrypted with these, and numbers in names of streams are hidden by them. */
export type KeySettings = Pick<CompleteConfig, 'secrets' | 'previousSecretKeys'>

/** Webhook secrets and the keys of persons are encrypted with the current key and still read with the previous ones. */
export function secretKeys (
  { secrets, previousSecretKeys }: KeySettings
): { current: Buffer, previous: Buffer[] } {
  return { current: keyBytes(secrets.secretKey), previous: previousSecretKeys.map(keyBytes) }
}

/** What stands for phone numbers in names of streams. */
export const digestOfNumbers = ({ secrets }: { secrets: { leadDigestKey: string } }): PhoneHash =>
  phoneHash(keyBytes(secrets.leadDigestKey))

/** Where operators are told of notices; nothing when they do not want to be. */
export function alertHook (config: CompleteConfig): { url: string, secret: string } | undefined {
  const { url } = config.alert
  return url === undefined ? undefined : { url, secret: alertSecret(config) }
}

/** What signs there: the one that is set, or one that follows from SECRET_KEY. */
export const alertSecret = ({ alert, secrets }: CompleteConfig) => alert.secret ??
  `whsec_${createHmac('sha256', keyBytes(secrets.secretKey)).update('ringledger alert webhook').digest('base64')}`

/** The 32 bytes of the key that a setting of any length and spelling gives. */
export const keyBytes = (setting: string): Buffer => createHash('sha256').update(setting).digest()
