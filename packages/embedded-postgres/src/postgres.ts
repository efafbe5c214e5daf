// Embedded Postgres: real binaries, a cluster under DATA_DIR, and a supervisor that ends with its starter.
import { setTimeout as delay } from 'node:timers/promises'
import { refuseUnfinished } from './backup/unused.js'
import { provideBinaries, type Binaries } from './cluster/binaries.js'
import { startChild, type Child } from './child.js'
import { databaseUrl, ensureCluster, ensureDatabase } from './cluster/cluster.js'
import { freePort } from './free-port.js'
import { locate, type Place } from './cluster/paths.js'
import { DataDirInUseError, liveHolder } from './lock.js'
import { endPostgres, killPostmaster } from './server/postmaster.js'
import { howToMakeRoom, logPath } from './server/log.js'
import { serverOf, serverRequest } from './server/request.js'

const ATTEMPTS = 5
// Above what the supervisor itself needs to stop Postgres by force.
const STOP_SECONDS = 35

export interface PostgresRequest {
  /** An existing DATA_DIR that the caller holds. */
  dir: string
  /** Ports that others will listen on. */
  otherPorts?: readonly number[]
  log: (line: string) => void
}

export interface EmbeddedPostgres {
  url: string
  pid: number
  supervisorPid: number
  /** Such as `18.4`. */
  version: string
  /** Settles when Postgres ended and was not closed. */
  lost: Promise<Error>
  /**
   * Ends every session and stops Postgres; returns when no process of it is left. Idempotent. At once: a Postgres that
   * does not answer is killed. The next start recovers what was committed, as after a loss of power.
   */
  close(options?: { atOnce?: boolean }): Promise<void>
}

interface Running {
  supervisor: Child
  pid: number
  port: number
}

/** Starts Postgres on the cluster of this DATA_DIR, which it makes on the first start. Errors say how to mend them. */
export async function startPostgres ({ dir, otherPorts, log }: PostgresRequest): Promise<EmbeddedPostgres> {
  refuseUnfinished(dir)
  const place = locate(dir)
  const binaries = provideBinaries(place, log)
  await ensureCluster(place, binaries)
  const running = await startServer(place, binaries, otherPorts, log)
  const { supervisor, pid, port } = running
  let closing: Promise<void> | undefined
  const close = ({ atOnce = false } = {}) => closing ??= atOnce
    ? killServer(place, binaries.folder, running)
    : stopServer(place, binaries.folder, supervisor)
  await ensureDatabase(place, port).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    url: databaseUrl(place, port),
    pid,
    supervisorPid: supervisor.pid,
    version: binaries.version,
    lost: new Promise((resolve) => {
      void supervisor.ended.then((how) => closing ?? resolve(stopError(place, supervisor.said(), how)))
    }),
    close
  }
}

/** Waits for the supervisor of an earlier start. @throws when it does not end, or is that of another DATA_DIR */
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
): Promise<Running> {
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

async function stopServer (place: Place, binaries: string, supervisor: Child): Promise<void> {
  await supervisor.stop(STOP_SECONDS)
  // Nothing is left to stop, unless the supervisor was killed.
  await endPostgres(place, binaries, () => {})
}

/** Its supervisor ends with it. Sessions that are frozen as well end by a signal of their own. */
async function killServer (place: Place, binaries: string, { pid, supervisor }: Running): Promise<void> {
  await killPostmaster(pid, supervisor.hasEnded, place.cluster, binaries)
  await endPostgres(place, binaries, () => {})
}

// Another process took the port meanwhile, or a Postgres of an earlier run is about to end.
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
