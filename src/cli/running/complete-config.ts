// Fills in the secrets that a run without any URL makes by itself.
import type { CompleteConfig } from '../../composition/complete-config.js'
import { generatedSecrets } from '../../composition/generated-secrets.js'
import type { Config } from '../../config.js'

export type RunConfig = CompleteConfig & {
  /** The JWT secret was generated here, so that nobody else can have a token yet. */
  jwtSecretIsOurs: boolean
}

export async function completeConfig (config: Config): Promise<RunConfig> {
  const { jwt, secretKey, leadDigestKey, jwtRoleClaim: roleClaim, jwtRoleMap: roleMap } = config
  if (jwt && secretKey && leadDigestKey) {
    return { ...config, jwt, secrets: { secretKey, leadDigestKey }, jwtSecretIsOurs: false }
  }
  const { prepareDataDir } = await import('@ringledger/embedded-postgres/data-dir')
  const ours = await generatedSecrets(prepareDataDir(config.dataDir))
  return {
    ...config,
    jwt: jwt ?? { roleClaim, roleMap, secret: ours.jwtSecret },
    secrets: { secretKey: secretKey ?? ours.secretKey, leadDigestKey: leadDigestKey ?? ours.leadDigestKey },
    jwtSecretIsOurs: jwt === undefined
  }
}
