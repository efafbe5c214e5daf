// Secrets for a service on back ends of its own.
import type { KeySettings } from '../../../src/services/complete-config.js'

export const secrets = {
  JWT_SECRET: 'a secret for tests that is long enough 1',
  SECRET_KEY: 'a secret for tests that is long enough 2',
  LEAD_DIGEST_KEY: 'a secret for tests that is long enough 3'
}

/** The same as settings of a process. */
export const keySettings: KeySettings = {
  secrets: { secretKey: secrets.SECRET_KEY, leadDigestKey: secrets.LEAD_DIGEST_KEY }, previousSecretKeys: []
}
