// Embedded Postgres: real binaries, a cluster under DATA_DIR, and a supervisor that ends with its starter.
import { statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { provideBinaries, spawnIds, type Binaries } from './binaries.js'
import { startChild, type Child } from './child.js'
import { databaseUrl, ensureCluster, ensureDatabase } from './cluster.js'
import { refuseUnfinished } from './data-dir.js'
import { DataDirInUseError, liveHolder } from './lock.js'
import { locate, type Place } from './place.js'
import { endPostgres, stopPostmaster } from './postmaster.js'

const ATTEMPTS = 5
// More than the supervisor needs to stop Postgres by force.
const STOP_SECONDS = 35
const AT_ONCE = [{ signal: 'SIGKILL', seconds: 1 }] as const

interface PostgresRequest {
  /** An existing DATA_DIR that the caller has locked. */
  dir: string
  /** Ports that others will listen on. */
  otherPorts?: readonly number[]
  log: (line: string) => void
}

export type EmbeddedPostgres = Awaited<ReturnType<typeof startPostgres>>

/** Sent by the starter to the supervisor as one line of JSON. */
export interface ServerRequest {
  binaries: string
  cluster: string
  /** Names the holder in the cluster's lock. */
  holder: string
  args: string[]
  uid?: number
  gid?: number
}

/** Starts Postgres on the cluster of this DATA_DIR, created on the first start. Errors say how to fix them. */
export async function startPostgres ({ dir, otherPorts, log }: PostgresRequest) {
  refuseUnfinished(dir)
  const place = locate(dir)
  const binaries = provideBinaries(place, log)
  await ensureCluster(place, binaries)
  const { supervisor, pid, port } = await startServer(place, binaries, otherPorts, log)
  let closing: Promise<void> | undefined
  const stop = async (atOnce: boolean) => {
    if (!atOnce) await supervisor.stop(STOP_SECONDS)
    else await stopPostmaster(pid, supervisor.hasEnded, place.cluster, binaries.folder, AT_ONCE)
    // Kills what is left if the supervisor was killed, and frozen sessions.
    await endPostgres(place, binaries.folder, () => {})
  }
  /**
   * Ends every session and stops Postgres; returns when none of its processes is left. Idempotent. `atOnce` kills a
   * Postgres that does not answer: the next start recovers what was committed, as after a power failure.
   */
  const close = ({ atOnce = false } = {}) => closing ??= stop(atOnce)
  await ensureDatabase(place, port).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    url: databaseUrl(place, port),
    pid,
    supervisorPid: supervisor.pid,
    version: binaries.version, // such as `18.4`
    /** Resolves when Postgres has ended without `close`. */
    lost: new Promise<Error>((resolve) => {
      void supervisor.ended.then((how) => closing ?? resolve(stopError(place, supervisor.said(), how)))
    }),
    close
  }
}

/** Waits for the supervisor of an earlier start. @throws when it does not end, or belongs to another DATA_DIR */
async function awaitPredecessor ({ dataDir, home }: Place, log: (line: string) => void): Promise<void> {
  const deadline = Date.now() + STOP_SECONDS * 1000
  for (let isLogged = false; ; isLogged = true) {
    const { heldBy } = await liveHolder(home)
    if (heldBy === undefined) return
    const isCopy = !heldBy.isElsewhere && heldBy.command !== serverOf(dataDir)
    if (isCopy || Date.now() > deadline) throw new DataDirInUseError(dataDir, heldBy)
    if (!isLogged) log(`Waiting for the Postgres of ${heldBy.isElsewhere ? 'another container' : 'an earlier run'} to stop`)
    await delay(20)
  }
}

async function startServer (
  place: Place, binaries: Binaries, otherPorts: PostgresRequest['otherPorts'], log: (line: string) => void
): Promise<{ supervisor: Child, pid: number, port: number }> {
  for (let attempt = 1; ; attempt++) {
    await awaitPredecessor(place, log)
    await endPostgres(place, binaries.folder, log)
    if (attempt === 1) log(`Starting Postgres ${binaries.version} in ${place.cluster}`)
    const port = await freePort(otherPorts)
    const module = new URL('./postgres-supervisor.js', import.meta.url)
    const supervisor = startChild({ module, args: [place.cluster], logFile: logPath(place) })
    supervisor.stdin.write(`${JSON.stringify(serverRequest(place, binaries.folder, port))}\n`)
    try {
      const pid = await supervisor.line((line) => /^READY (\d+)$/.exec(line)?.[1])
      return { supervisor, pid: Number(pid), port }
    } catch (error) {
      const said = supervisor.said()
      if (attempt === ATTEMPTS || !isPassing(said)) throw startError(place, said, error)
    }
  }
}

/** Command-line settings override postgresql.conf: durability and safety depend on them. */
function serverRequest (place: Place, binaries: string, port: number): ServerRequest {
  const { dataDir, cluster, account } = place
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    logging_collector: 'off',
    log_destination: 'stderr',
    // Details of a constraint violation show values of the row, such as phone numbers.
    log_error_verbosity: 'terse'
  }
  const args = ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  return { binaries, cluster, holder: serverOf(dataDir), args, ...spawnIds(account) }
}

const serverOf = (dataDir: string) => `the Postgres of ${dataDir}`

/** A free loopback port that is not one of `others`. Another process may still take it before its use. */
export async function freePort (others: readonly number[] = []): Promise<number> {
  for (;;) {
    const port = await listenOnce(0)
    if (!others.includes(port)) return port
  }
}

/** Listens briefly. @returns the port @throws when another process has it */
export function listenOnce (port: number, host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}

// Transient: another process took the port, or a Postgres of an earlier run is still ending.
function isPassing (said: string): boolean {
  return /is in use by|could not bind|Address already in use|lock file .* already exists|shared memory block .* still in use/.test(said)
}

function startError (place: Place, said: string, cause: unknown): Error {
  const room = howToMakeRoom(place, said)
  if (room) return new Error(`Postgres did not start. ${room}`, { cause })
  const mend = `The whole log is ${logPath(place)}; with DATABASE_URL set, the service uses a Postgres of your own instead.`
  const end = said.trim().split('\n').slice(-6).join('\n')
  return new Error(`Postgres did not start in ${place.cluster}:\n${end}\n${mend}`, { cause })
}

function stopError (place: Place, said: string, how: string): Error {
  const mend = howToMakeRoom(place, said)
  return new Error(`Postgres stopped unexpectedly (${how}); ${logPath(place)} says why.${mend ? ` ${mend}` : ''}`)
}

const logPath = ({ dataDir }: Place) => join(dataDir, 'postgres.log')

/** Size of a WAL segment: Postgres stops when there is no room for one. */
const leastBytes = 16 * 2 ** 20

/** How to fix a full disk, if that is the problem. The log may be on it too, with no room to say so. */
function howToMakeRoom ({ cluster }: Place, said: string): string | undefined {
  const { bavail, bsize } = statfsSync(cluster)
  if (!said.includes('No space left on device') && bavail * bsize >= leastBytes) return undefined
  return `The disk of DATA_DIR is full, with ${cluster}: free some space there, or move DATA_DIR to another disk.`
}
