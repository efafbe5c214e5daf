// Starts and stops the embedded back ends of a DATA_DIR whose lock this process holds.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startEventStoreProcess } from '@ringledger/embedded-event-store/child'
import { freePort, listenOnce, startPostgres } from '@ringledger/embedded-postgres'
import { explained } from '@ringledger/embedded-postgres/data-dir'
import type { Lock, Role } from '@ringledger/embedded-postgres/lock'
import { removeRunFile, writeRunFile } from './running-stack.js'

/** The service that will listen in addition to the back ends. */
export interface Listening {
  port: number
  /** @throws when another process listens there */
  assertCanListen (): Promise<void>
}

export interface EmbeddedRequest {
  /** Absolute or relative to the working directory; created, mode 0700, when missing. */
  dataDir: string
  /** `start` owns DATA_DIR and publishes run.json; a `command` joins a running `start`, or owns it while it runs. */
  role: Role
  /** For the error of another process that is refused, such as `ringledger start`. */
  command: string
  /** When set, no embedded Postgres starts. */
  databaseUrl?: string
  /** When set, no embedded event store starts. */
  eventStoreUrl?: string
  /** Only for `start`: 0 for any free port, absent for the one kept in DATA_DIR. A command takes any. */
  eventStorePort?: number | undefined
  /** Its port is checked before anything starts, and no back end takes it. */
  listening?: Listening | undefined
  /** Runs before an embedded event store may write to the database. @throws to forbid that */
  check?: (databaseUrl: string) => Promise<void>
  /** Gets progress in lines for people. */
  log: (line: string) => void
}

export interface EmbeddedStack {
  databaseUrl: string
  eventStoreUrl: string
  /** The data directory of the embedded Postgres, if there is one. */
  dataIn?: string | undefined
  /** Whether this is the stack of a running `start`, which `close` leaves running. */
  joined: boolean
  pids: Record<string, number>
  /** Resolves when an embedded process has ended without `close`. */
  lost: Promise<Error>
  /** Role `start`: writes run.json (mode 0600, atomically) with URLs, pids and these further values. */
  publish(extra: Record<string, unknown>): Promise<void>
  /**
   * Stops the event store, then Postgres, then releases DATA_DIR. Idempotent. `atOnce` kills both, for when Postgres
   * does not answer; Postgres recovers at the next start.
   */
  close(options?: { atOnce?: boolean }): Promise<void>
}

interface Part {
  lost: Promise<Error>
  close(options?: Closing): Promise<void>
}

interface Closing { atOnce?: boolean }

const causeWithinMs = 1_000

const killed = 'Postgres did not answer, so the embedded back ends were killed. What was acknowledged is on the disk: ' +
  'the next start recovers it.'

/** Owns `lock` from now on: releases it on `close` and when the start fails. */
export async function openOwn (dataDir: string, lock: Lock, request: EmbeddedRequest): Promise<EmbeddedStack> {
  const { databaseUrl, eventStoreUrl, role, listening, log } = request
  const servicePort = listening?.port
  const parts: Part[] = []
  const pids: Record<string, number> = {}
  let closing: Promise<void> | undefined
  const close = ({ atOnce = false }: Closing = {}) => {
    if (atOnce && parts.length > 0 && closing === undefined) log(killed)
    return closing ??= closeAll(dataDir, lock, parts, { atOnce })
  }
  try {
    await listening?.assertCanListen()
    const port = eventStoreUrl ? 0 : await choosePort()
    const urls = { databaseUrl: databaseUrl ?? await addPostgres([servicePort ?? 0, port]), eventStoreUrl: '' }
    urls.eventStoreUrl = eventStoreUrl ?? await addEventStore(urls.databaseUrl, port)
    const publish = async (extra: Record<string, unknown>): Promise<void> => {
      if (role === 'start' && closing === undefined) writeRunFile(dataDir, { ...extra, lock: lock.number, ...urls, pids })
    }
    const lost = firstLost(parts)
    return { ...urls, joined: false, pids, lost, publish, close }
  } catch (error) {
    await close()
    throw explained(dataDir, error)
  }

  async function choosePort (): Promise<number> {
    const wanted = role === 'start' ? request.eventStorePort : 0
    return await eventStorePort({ dataDir, wanted, servicePort, log })
  }

  async function addPostgres (otherPorts: number[]): Promise<string> {
    const postgres = await startPostgres({ dir: dataDir, otherPorts, log })
    parts.push(postgres)
    Object.assign(pids, { postgres: postgres.pid, postgresSupervisor: postgres.supervisorPid })
    return postgres.url
  }

  async function addEventStore (url: string, port: number): Promise<string> {
    await request.check?.(url)
    const eventStore = await startEventStoreProcess(dataDir, url, port).catch(async (error: unknown) => {
      if (port === 0 || await isFree(port)) throw error
      return await startEventStoreProcess(dataDir, url, await choosePort()) // another process took the port
    })
    parts.push(eventStore)
    pids.eventStore = eventStore.pid
    return eventStore.url
  }
}

/** When Postgres ends, the event store ends too and may be noticed first: so wait for the real cause. */
async function firstLost (parts: readonly Part[]): Promise<Error> {
  const noticed = await Promise.race(parts.map(({ lost }) => lost))
  return await Promise.race([parts[0]?.lost ?? noticed, delay(causeWithinMs, noticed)])
}

async function closeAll (dataDir: string, lock: Lock, parts: Part[], how: Closing): Promise<void> {
  try {
    removeRunFile(dataDir) // first, so that no command joins a stack that is about to end
  } finally {
    try {
      for (const part of parts.toReversed()) await part.close(how)
    } finally {
      lock.release()
    }
  }
}

interface PortRequest {
  dataDir: string
  /** From `EMBEDDED_EVENTSTORE_PORT`; 0 for any free port. Absent: the kept one, else 2113, else any free port. */
  wanted?: number | undefined
  /** EventStoreDB's default port when absent. */
  usual?: number
  /** The port of the service itself. */
  servicePort?: number | undefined
  log: (line: string) => void
}

/**
 * Chooses a port for the event store that is free now. Without `wanted` it is kept in DATA_DIR, so that a call engine
 * finds it again.
 * @throws when the wanted port is taken
 */
export async function eventStorePort (
  { dataDir, wanted, usual = 2113, servicePort = 0, log }: PortRequest
): Promise<number> {
  if (wanted === 0) return servicePort === 0 ? 0 : await freePort([servicePort])
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new Error(`EMBEDDED_EVENTSTORE_PORT is ${wanted}, and another process listens there: choose another port`)
  }
  const kept = keptPort(dataDir)
  const first = kept ?? usual
  const isOurs = first === servicePort
  const port = !isOurs && await isFree(first) ? first : await freePort([servicePort])
  const why = isOurs ? 'that of PORT' : 'taken'
  if (port !== first) log(`Port ${first} is ${why}, so the event store listens on ${port} from now on`)
  if (port !== kept) writeFileSync(portFile(dataDir), `${port}\n`, { mode: 0o600 })
  return port
}

const portFile = (dataDir: string) => join(dataDir, 'event-store.port')

function keptPort (dataDir: string): number | undefined {
  try {
    const port = Number(readFileSync(portFile(dataDir), 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

const isFree = (port: number) => listenOnce(port).then(() => true, () => false)
