// Opens and closes the services record of a process. Each part declares by its types what it needs of that record.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { awaitedChannel, outdated } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import type { AssistantAt } from '../commands/assistants.js'
import type { Blacklists, PhoneClaims } from '../commands/phone-numbers.js'
import type { HandleLedger, HandleRoute } from '../http/command-route.js'
import { refuseLostKeysAtStart } from '../privacy/rewrap.js'
import { findLimitedStreams } from '../recovery/same-log.js'
import { wheneverLeased } from '../subscriptions/lease.js'
import { endsWithin, pause, repeat } from '../timing.js'
import type { CompleteConfig } from './complete-config.js'
import { openConnections, type Connections, type Urls } from './connections.js'
import { openCredentials } from './credentials.js'

export type Role = 'api' | 'projector' | 'worker'

export interface Services extends Connections {
  roles: readonly Role[]
  config: CompleteConfig
  urls: Urls
  /** Checks API keys and revoked tokens; the signature of a token is checked elsewhere. */
  credentials: ReturnType<typeof openCredentials>
  /** Names this process in its leases: host, pid and a random part. */
  holder: string
  log: Logger
  /** Aborted when the process is asked to stop. */
  leaving: AbortSignal
}

/** What routes need in addition. */
export interface ApiServices extends Services {
  handle: HandleRoute
  /** Commands that change the delivery log without appending an event. */
  handleLedger: HandleLedger
  assistantAt: AssistantAt
  /** The user of an assistant; undefined when the assistant does not exist. */
  ownerOf (assistantId: number): Promise<string | undefined>
  phoneClaims: PhoneClaims
  blacklists: Blacklists
}

/** A request fails when Postgres takes longer for a statement. */
const answerWithinMs = 5_000
/** A batch has a few megabytes at most. A silently dead connection stops its consumer for this long. */
const batchWithinMs = 10_000
/** Loops that only poll have nothing to finish. */
const lookWithinMs = 1_000

/** `prepare` runs on the same connections, before the process accepts credentials. */
export async function openServices (
  given: Pick<Services, 'roles' | 'config' | 'urls' | 'log' | 'leaving'>,
  prepare?: (connections: Connections) => Promise<void>
): Promise<Services> {
  const { roles, config, urls, log } = given
  const { readModelWaitMs } = config
  const connections = await openConnections(urls, config, log, { answerWithinMs, batchWithinMs, readModelWaitMs })
  const { pool, consumerPool, streams, keys: secretKeys, logGuard } = connections
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const stops: Array<() => Promise<unknown>> = []
  const close = async () => {
    for (const stop of stops.splice(0)) await stop()
    await connections.close()
  }
  try {
    connections.notifications.listen(awaitedChannel, { onNotification: () => streams.lookNow() })
    stops.push(await registerRoles(consumerPool, roles, holder))
    await logGuard.assertSoon()
    await logGuard.check()
    await refuseLostKeysAtStart({ pool, streams, secretKeys })
    for (const each of await outdated(pool, projections)) {
      log.warn(each, 'a read model was folded by another version of its projection: replay it')
    }
    for (const { problem, ...about } of await findLimitedStreams(streams)) log.error(about, problem)
    await prepare?.(connections)
    const credentials = openCredentials({ ...connections, log })
    stops.push(() => endsWithin(lookWithinMs, credentials.close()))
    return { ...connections, ...given, credentials, holder, close }
  } catch (error) {
    await close()
    throw error
  }
}

const retryMs = 500
const forgetWithinMs = 2_000

/**
 * Registers a process that runs roles as a lease that nobody else asks for, renewed while the process lives. Commands
 * that need every role stopped look for it. @returns what ends it, once it is registered
 */
async function registerRoles (pool: Pool, roles: readonly Role[], holder: string): Promise<() => Promise<void>> {
  const name = `role ${holder}`
  await pool.query("DELETE FROM ledger.leases WHERE name LIKE 'role %' AND expires_at < now() - interval '1 hour'")
  let registered = () => {}
  const isRegistered = new Promise<void>((resolve) => { registered = resolve })
  const lease = { pool, name, holder: `${holder} (${roles.join(', ')})` }
  const stop = repeat((signal) => wheneverLeased({ ...lease, signal }, async (held) => {
    registered()
    await new Promise((resolve) => held.signal.addEventListener('abort', resolve, { once: true }))
  }).catch(() => pause(retryMs, signal))) // others report that Postgres is away
  await isRegistered
  return async () => {
    const forgotten = stop().then(() => pool.query('DELETE FROM ledger.leases WHERE name = $1', [name]))
    await endsWithin(forgetWithinMs, forgotten) // it expires anyway
  }
}
