// What every part of a running process works with: each takes of it what it needs, by its type.
import type { Logger } from 'pino'
import type { LogGuard } from '../recovery/log-guard.js'
import type { RestoreGuard } from '../recovery/restore-guard.js'
import type { CompleteConfig } from './complete-config.js'
import type { Connections, Urls } from './connections.js'
import type { OpenCredentials } from './credentials.js'
import type { Role } from './role.js'

export interface Services {
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
