// `ringledger api` as a process of its own, on the back ends of a test's service: it can be killed.
import { dataDir, ringledger, type Environment, type Ringledger } from '../ringledger.js'
import { caller, type Call } from '../running-service.js'
import type { TestService } from '../service.js'
import type { Teardown } from '../teardown.js'
import { secrets } from '../auth/secrets.js'
import { listeningUrl } from './role-log.js'

export interface ApiProcess {
  /** As user 1, unless another token is given. */
  call: Call
  process: Ringledger
  /** kill -9 */
  kill (): Promise<void>
}

/** Starts it; `environment` overrides settings, for instance with the address of a proxy. */
export async function apiProcess (
  t: Teardown, { urls, token }: TestService, environment: Environment = {}
): Promise<ApiProcess> {
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
  return {
    call: (method, path, request) => call(method, path, { token: user, ...request }),
    process,
    async kill () {
      process.signal('SIGKILL')
      await process.ended
    }
  }
}
