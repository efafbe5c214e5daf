// Fills in the secrets of a run without any URL: `start` makes them, commands read them.
import type { CompleteConfig } from '../../services/complete-config.js'
import { generatedSecrets, keptSecrets } from '../../services/generated-secrets.js'
import type { Config } from '../../config.js'

export type RunConfig = CompleteConfig & {
  /** The JWT secret was generated here, so that nobody else can have a token yet. */
  jwtSecretIsOurs: boolean
}

/** @throws NothingRuns where `makes` is false and nobody has made secrets yet */
export async function completeConfig (config: Config, makes = false): Promise<RunConfig> {
  const { jwt, secretKey, leadDigestKey, jwtRoleClaim: roleClaim, jwtRoleMap: roleMap } = config
  if (jwt && secretKey && leadDigestKey) {
    return { ...config, jwt, secrets: { secretKey, leadDigestKey }, jwtSecretIsOurs: false }
  }
  const { explained, prepareDataDir } = await import('@ringledger/embedded-postgres/data-dir')
  const { dataDir } = config
  const ours = makes
    ? await generatedSecrets(prepareDataDir(dataDir))
    : await keptSecrets(dataDir).catch((error: unknown) => { throw explained(dataDir, error) })
  if (ours === undefined) {
    const { NothingRuns } = await import('../../services/embedded/running-stack.js')
    throw new NothingRuns(dataDir)
  }
  return {
    ...config,
    jwt: jwt ?? { roleClaim, roleMap, secret: ours.jwtSecret, previousSecrets: config.previousJwtSecrets },
    secrets: { secretKey: secretKey ?? ours.secretKey, leadDigestKey: leadDigestKey ?? ours.leadDigestKey },
    jwtSecretIsOurs: jwt === undefined
  }
}
