// The settings of a process that runs: every secret is there.
import { createHash } from 'node:crypto'
import type { Config } from '../config.js'
import type { Secrets } from './generated-secrets.js'
import type { JwtSettings } from '../http/auth/jwt-settings.js'

/** Config with every secret: set, or generated. */
export type CompleteConfig = Config & { jwt: JwtSettings, secrets: Pick<Secrets, 'secretKey' | 'leadDigestKey'> }

/** Webhook secrets are encrypted with the current key and still read with the previous ones. */
export function secretKeys (
  { secrets, previousSecretKeys }: Pick<CompleteConfig, 'secrets' | 'previousSecretKeys'>
): { current: Buffer, previous: Buffer[] } {
  return { current: keyBytes(secrets.secretKey), previous: previousSecretKeys.map(keyBytes) }
}

/** The 32 bytes of the key that a setting of any length and spelling gives. */
export const keyBytes = (setting: string): Buffer => createHash('sha256').update(setting).digest()
