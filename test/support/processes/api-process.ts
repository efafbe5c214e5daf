// `ringledger api` as a process of its own, on the back ends of a test's service: it can be killed.
import { dataDir, ringledger, type Environment } from '../ringledger.js'
import { caller, type Call } from '../running-service.js'
import type { TestService } from '../service.js'
import type { Teardown } from '../teardown.js'
import { secrets } from '../auth/secrets.js'
import { listeningUrl } from './role-log.js'

export type ApiProcess = Awaited<ReturnType<typeof apiProcess>>

/** Starts it; `environment` overrides settings. Calls are those of user 1, unless another token is given. */
export async function apiProcess (
  t: Teardown, { urls, token }: TestService, environment: Environment = {}
) {
  const process = ringledger(t, ['api'], {
    ...secrets,
    DATABASE_URL: urls.databaseUrl,
    EVENTSTORE_URL: urls.eventStoreUrl,
    DATA_DIR: dataDir(t),
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    ...environment
  })
  const call = caller(await process.says(listeningUrl))
  const user = await token('1')
  const asUser1: Call = (method, path, request) => call(method, path, { token: user, ...request })
  return {
    call: asUser1,
    process,
    /** kill -9 */
    async kill () {
      process.signal('SIGKILL')
      await process.ended
    }
  }
}
