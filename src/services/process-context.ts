// What the parts of a running process work with.
import type { Logger } from 'pino'
import type { LogGuard } from '../recovery/log-guard.js'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import type { CompleteConfig } from './complete-config.js'
import type { Connections, Urls } from './connections.js'
import type { OpenCredentials } from './credentials/credentials.js'
import type { Role } from './role.js'

export interface ProcessContext {
  roles: readonly Role[]
  config: CompleteConfig
  urls: Urls
  connections: Connections
  restoreGuard: RestoreGuard
  logGuard: LogGuard
  /** Who is let in, besides by the signature of a token. */
  credentials: OpenCredentials
  /** Names this process in its leases: host, pid and a random part. */
  holder: string
  log: Logger
  /** Whether it was asked to stop. */
  isLeaving: () => boolean
}
