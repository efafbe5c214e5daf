// Health checks of a process, for probes, and its metrics, for Prometheus.
import type { Projection } from '../../projections/engine/projection.js'
import { activePositions, generationsOf } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import type { HealthChecks, Remark } from '../http/health.js'
import { openMetrics, type Metrics } from '../http/metrics.js'
import { recordMinutes } from '../ops/minute-counts.js'
import { countersByConsumer } from '../subscriptions/run.js'
import { monitorLag, type Lag, type LagMonitor } from '../subscriptions/lag.js'
import { pause, repeat } from '../timing.js'
import { measureDeliveries, measureProcess, measureProjections } from './metrics.js'
import type { Services } from './services.js'
import { statfs } from 'node:fs/promises'
import type { Pool } from 'pg'
import { saysDiskFull, writeProbe } from '../postgres/problems.js'

export type Status = ReturnType<typeof openStatus>

/**
 * With the projector role it monitors the lag of all read models, whichever process runs their projections.
 * `assertWorker` rejects when the queue of the worker role does not answer.
 */
export function openStatus (services: Services, assertWorker: () => Promise<void>) {
  const { roles, config, urls, pool, streams, holder, log } = services
  const metrics = openMetrics(log)
  measureProcess(metrics, services)
  const lagMonitor = roles.includes('projector')
    ? monitorLag({
      head: () => streams.head(), positions: () => activePositions(pool, projections), lookNow: () => streams.lookNow()
    })
    : undefined
  if (lagMonitor) measureProjections(metrics, services, lagMonitor)
  const stopRecording = recordMinutes({ pool, holder }, () => counted(metrics), log)
  const place = diskOf(urls.dataIn, config.backEnds.eventStoreUrl)
  const disk = openDiskMonitor({ pool, disk: place, log })
  const stopLooking = disk.keepLooking()
  if (roles.includes('worker')) measureDeliveries(metrics, pool)
  return {
    healthChecks: healthChecks(services, disk.assertRoom, assertWorker, lagMonitor),
    metrics,
    metricsToken: config.metricsToken,
    async stop () {
      await Promise.all([stopLooking(), stopRecording(), lagMonitor?.stop()])
    }
  }
}

/** Since the start of this process. */
function counted ({ commands }: Metrics): Map<string, number> {
  const answered = Object.entries(commands).map(([kind, count]): [string, number] => [`commands ${kind}`, count])
  const consumed = [...countersByConsumer].map(([name, { events }]): [string, number] => [`events ${name}`, events])
  return new Map([...answered, ...consumed])
}

/** Only the projector role has a lag monitor. */
function healthChecks (
  services: Services, disk: () => Promise<void>, assertWorker: () => Promise<void>, lagMonitor: LagMonitor | undefined
): HealthChecks {
  const { roles, pool, eventStore, logGuard } = services
  const checks: HealthChecks = {
    postgres: () => pool.query('SELECT 1'),
    disk,
    eventStore: () => eventStore.assertAnswers(),
    ledger: () => isLevelWithLog(services),
    log: () => logGuard.assert()
  }
  if (roles.includes('api') || roles.includes('worker')) checks.eventStoreWrites = () => eventStore.assertTakesWrites()
  if (roles.includes('api') || roles.includes('projector')) checks.readModels = () => assertFilled(services)
  if (roles.includes('worker')) checks.webhookQueue = assertWorker
  for (const projection of lagMonitor ? projections : []) {
    checks[`projection ${projection.name}`] = () => assertKeepsUp(services, projection, lagMonitor?.lags() ?? [])
  }
  return checks
}

/** An API without ids still answers reads and updates, so it stays ready. A worker that may not send is not ready. */
async function isLevelWithLog ({ roles, logGuard }: Services): Promise<Remark> {
  const { maySend, mayGiveIds } = await logGuard.check()
  if (roles.includes('api')) return maySend && mayGiveIds ? undefined : 'behind the log'
  if (roles.includes('worker') && !maySend) await logGuard.assertMaySend()
  return undefined
}

/** @throws while a read model is filled for the first time: reads of it are refused until then */
async function assertFilled ({ pool }: Services): Promise<void> {
  const found = await activePositions(pool, projections)
  const filling = found.filter(({ isFilling }) => isFilling).map(({ name }) => name)
  if (filling.length > 0) throw new Error(`still to be filled from the log: ${filling.join(', ')}`)
}

/**
 * A projection that lags but catches up passes, and so does one that an operator has paused.
 * @throws when the active generation stands still, or falls behind
 */
async function assertKeepsUp ({ pool }: Services, projection: Projection, lags: Lag[]): Promise<Remark> {
  const active = (await generationsOf(pool, projection)).find(({ state }) => state === 'active')
  if (active?.pausedSince) return `paused since ${active.pausedSince.toISOString()}`
  if (active?.breaker.openSince) {
    const { openSince, streams, error } = active.breaker
    throw new Error(`it stands still since ${openSince.toISOString()}, as it refused ${streams} streams within a minute: ${error}`)
  }
  const lag = lags.find(({ name }) => name === projection.name)
  if (lag?.isKeepingUp === false) throw new Error(behind(lag))
  return undefined
}

function behind ({ lag, lagSeconds, isAlive }: Lag): string {
  if (lag < 0n) return `the log ends ${-lag} positions before what was read of it: it has gone back`
  const trend = isAlive ? 'does not come closer' : 'stands still'
  return `the log is ${lag} positions ahead for ${lagSeconds.toFixed(0)} s, and the read model ${trend}`
}

interface Disk {
  /** Shown to operators. */
  name: string
  /** A directory on the disk; absent when the disk is on another machine. */
  path?: string | undefined
}

/** Interval of checks, in milliseconds; while the disk is full, every health check looks again. */
const usualEveryMs = 10_000

/** The size of a WAL segment: Postgres stops altogether when there is no room for one. */
const leastBytes = 16 * 2 ** 20
/** A segment also needs a free inode. */
const leastFiles = 16

/** The disk that Postgres and the embedded event store write to. Only an embedded Postgres has a `dataIn`. */
function diskOf (dataIn: string | undefined, eventStoreUrl: string | undefined): Disk {
  const hasLog = eventStoreUrl === undefined
  if (dataIn === undefined) return { name: `of Postgres (DATABASE_URL${hasLog ? ', with the event log' : ''})` }
  return { name: `of DATA_DIR (${dataIn}, with Postgres${hasLog ? ' and the event log' : ''})`, path: dataIn }
}

type DiskLog = Record<'info' | 'error', (details: object, message: string) => void>

/** Logs once that the disk is full, and once that there is room again. */
export function openDiskMonitor (
  { pool, disk, log, everyMs = usualEveryMs }: { pool: Pool, disk: Disk, log: DiskLog, everyMs?: number }
) {
  let lookedAt = -Infinity
  let problem: Error | undefined
  return { assertRoom, keepLooking }

  /** @throws when the disk is full */
  async function assertRoom (): Promise<void> {
    if (problem || performance.now() - lookedAt > everyMs) await look()
    if (problem) throw problem
  }

  async function look (): Promise<void> {
    lookedAt = performance.now()
    const found = await findProblem(pool, disk)
    if (found && !problem) log.error({ err: found }, found.message)
    if (!found && problem) log.info({}, `there is room again on the disk ${disk.name}`)
    problem = found
  }

  /** Logs a full disk even without health checks. @returns what ends it */
  function keepLooking (): () => Promise<void> {
    return repeat(async (signal) => {
      await pause(everyMs, signal)
      if (!signal.aborted) await look()
    })
  }
}

/** Undefined when Postgres is away: other checks report that. */
async function findProblem (pool: Pool, disk: Disk): Promise<Error | undefined> {
  try {
    if (disk.path === undefined) await writeProbe(pool)
    else if (!await hasRoom(disk.path)) return full(disk)
    return undefined
  } catch (cause) {
    return saysDiskFull(cause) ? full(disk, cause) : undefined
  }
}

/** Some file systems do not count files: they report 0. */
async function hasRoom (path: string): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(path)
  return bavail * bsize >= leastBytes && (files === 0 || ffree >= leastFiles)
}

const full = ({ name }: Disk, cause?: unknown) =>
  new Error(`the disk ${name} is full: nothing can be written until there is room`, { cause })
