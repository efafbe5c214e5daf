// Notices a log that has gone back, was moved or is another one, at the start and while roles run: its positions mean
// something else, and nothing is fed from it.
import type { Pool } from 'pg'
import { markerStream } from '../domain/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { catalogStreams } from '../features/catalog/events.js'
import { settingsStream } from '../features/leads/events.js'
import { StreamTruncated } from '../log/errors.js'
import type { Streams } from '../log/event-log.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import type { SameLog } from '../subscriptions/run.js'
import { pause } from '../timing.js'
import { dispatcherCheckpoint } from './database-state.js'

/** The log is not the one that this database has followed, or an older state of it. */
export class OtherLog extends Error {
  override readonly name = 'OtherLog'
}

/** How far a subscription has read the log. */
interface ReadUpTo { name: string, position: bigint }

const adopt = 'stop every role, run `ringledger events adopt`, and start again'

/**
 * Compares the log with the newest marker that this database knows, and with how far each subscription has read.
 * @throws OtherLog, which says how to mend it; EventStoreUnavailable
 */
export async function refuseOtherLog (
  pool: Pool, streams: Pick<Streams, 'read' | 'head' | 'limitOf'>, subscriptions: readonly ReadUpTo[]
): Promise<void> {
  await refuseTwoLogs(pool)
  const behind = await findAppendedBehind(pool, streams)
  if (behind !== undefined) throw older(behind)
  await refuseMovedLog(pool, streams)
  const furthest = await furthestOf(pool, subscriptions)
  const head = await streams.head()
  if (furthest.position <= head) return
  throw older(`The event log ends at position ${head}, and ${furthest.name} has read it up to ${furthest.position}`)
}

/** Of these subscriptions and the dispatcher. */
async function furthestOf (pool: Pool, subscriptions: readonly ReadUpTo[]): Promise<ReadUpTo> {
  const dispatcher = { name: 'the dispatcher', position: await readCheckpoint(pool, dispatcherCheckpoint) }
  return [...subscriptions, dispatcher].reduce((one, other) => other.position > one.position ? other : one)
}

/** A log has one marker of each revision: two that are known were in two logs, one an older state of the other. */
async function refuseTwoLogs (pool: Pool): Promise<void> {
  const { rows: [twice] } = await pool.query<{ revision: string }>(
    'SELECT revision FROM ledger.markers WHERE revision IS NOT NULL GROUP BY revision HAVING count(*) > 1 LIMIT 1')
  if (twice) throw older(`This database knows two markers ${twice.revision} of the event log`)
}

async function refuseMovedLog (pool: Pool, streams: Pick<Streams, 'read' | 'limitOf'>): Promise<void> {
  const { rows: [known] } = await pool.query<{ id: string, revision: string, position: string }>(
    'SELECT id, revision, position FROM ledger.markers WHERE revision IS NOT NULL ORDER BY revision DESC LIMIT 1')
  if (!known) return
  const found = await markerAt(streams, BigInt(known.revision))
  if (found?.id !== known.id) throw await lacking(streams, `marker ${known.revision}, which this database knows`)
  if (found.position === BigInt(known.position)) return
  throw new OtherLog('The events stand at other positions than they did: the log was moved to another event store. ' +
    `To go on there, ${adopt}.`)
}

/** Nothing where the log does not have it, or metadata of the stream hide it. */
async function markerAt (streams: Pick<Streams, 'read'>, revision: bigint): Promise<StoredEvent | undefined> {
  try {
    const [found] = await streams.read(markerStream, revision, 1)
    return found
  } catch (error) {
    if (error instanceof StreamTruncated) return undefined
    throw error
  }
}

/** Metadata of the stream, which anybody can write, may hide a marker that is there. */
async function lacking (streams: Pick<Streams, 'limitOf'>, marker: string): Promise<OtherLog> {
  const limit = await streams.limitOf(markerStream)
  if (!limit) return older(`The event log lacks ${marker}`)
  return new OtherLog(`${limitedBy(markerStream, limit)} Until then nobody can see whether the log has ${marker}.`)
}

/** Said of a log that lacks its end. */
export const older = (what: string) => new OtherLog(
  `${what}: it is older than this database, or another log. Check EVENTSTORE_URL; ` +
  'if the log was restored from a backup, restore the newer one, or one of Postgres that is no newer than the log. ' +
  `If the events that are missing are lost for good, ${adopt}.`)

interface AppendedBehind {
  stream: string
  /** Of the last event of the append. */
  revision: bigint
  position: bigint
  /** Whose append it was. */
  commandId: string
  /** How far the log had been read before the command came. */
  readUpTo: bigint
}

/** The first one stays. */
async function noteAppendedBehind (
  pool: Pool, { stream, revision, position, commandId, readUpTo }: AppendedBehind
): Promise<void> {
  await pool.query(`
    INSERT INTO ledger.appended_behind (stream, revision, position, command_id, read_up_to)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, [stream, revision, position, commandId, readUpTo])
}

/** Says what was noted, while that event is in the log: the right one, put back in its place, lacks it. */
async function findAppendedBehind (pool: Pool, streams: Pick<Streams, 'read'>): Promise<string | undefined> {
  const { rows: [noted] } = await pool.query<Noted>(
    'SELECT stream, revision, position, command_id, read_up_to FROM ledger.appended_behind')
  if (!noted) return undefined
  const [found] = await streams.read(noted.stream, BigInt(noted.revision), 1)
  if (found?.metadata.command_id !== noted.command_id || found.position !== BigInt(noted.position)) return undefined
  return saysAppendedBehind({ position: found.position, readUpTo: BigInt(noted.read_up_to) })
}

interface Noted { stream: string, revision: string, position: string, command_id: string, read_up_to: string }

const saysAppendedBehind = ({ position, readUpTo }: Pick<AppendedBehind, 'position' | 'readUpTo'>) =>
  `The event log took an event at position ${position} after it had been read up to ${readUpTo}`

/** The few that every log has. Those of assistants, leads and calls are looked at when a command reads them. */
const everywhere = [
  markerStream, settingsStream, catalogStreams.voices, catalogStreams.languages, catalogStreams.models
]

interface LimitedStream {
  stream: string
  limit: string
  /** In words, with what mends it. */
  problem: string
}

/** Nothing for a stream whose metadata cannot be read: this right is not needed otherwise. */
export async function findLimitedStreams (streams: Pick<Streams, 'limitOf'>): Promise<LimitedStream[]> {
  const found = await Promise.all(everywhere.map(async (stream) => {
    const limit = await streams.limitOf(stream)
    return limit ? [{ stream, limit, problem: limitedBy(stream, limit) }] : []
  }))
  return found.flat()
}

/** Says what limits the stream, and what mends it. */
function limitedBy (stream: string, limit: string): string {
  if (limit === 'deleted') {
    return `The stream ${stream} was deleted, and a scavenge takes its events away for good: ` +
      `write metadata without $tb to $$${stream}, twice, as the server answers the first with a $tb of its own.`
  }
  return `The metadata of the stream ${stream} has ${limit}, and a scavenge takes events away for good: ` +
    `write metadata without ${limit} to $$${stream}.`
}

export interface LogGuard extends SameLog {
  /** Compares now. @throws OtherLog, EventStoreUnavailable; an outage leaves the last result */
  assert (): Promise<void>
  problem (): OtherLog | undefined
  /** Compares until it is the same log, for some seconds. @throws as `assert` */
  assertSoon (): Promise<void>
  /**
   * Takes an event behind what this process knew to be read as proof that the log has gone back, and notes it for every
   * role. What it knew counts only where the database says the same: positions may have begun anew meanwhile.
   */
  wentBack (proof: AppendedBehind): Promise<void>
  /** Compares again and again. @returns what ends it */
  keepChecking (): () => Promise<void>
}

interface LogGuardOptions {
  pool: Pool
  streams: Pick<Streams, 'read' | 'head' | 'limitOf'>
  /** How far the subscriptions beside the dispatcher have read. */
  readUpTo (): Promise<readonly ReadUpTo[]>
  log: { info (details: object, message: string): void, error (details: object, message: string): void }
  /** Between two comparisons, in milliseconds. */
  everyMs?: number
}

const usualEveryMs = 10_000

/** A member that has just begun to lead may be level a moment later. */
const soonMs = { within: 3_000, every: 200 }

/** Logs once what is wrong, and once that it no longer is. */
export function openLogGuard ({ pool, streams, readUpTo, log, everyMs = usualEveryMs }: LogGuardOptions): LogGuard {
  let problem: OtherLog | undefined
  const keepChecking = () => repeating(everyMs, assert)
  return { assert, assertSoon, problem: () => problem, wentBack, keepChecking }

  async function assert (): Promise<void> {
    try {
      await refuseOtherLog(pool, streams, await readUpTo())
      if (problem) log.info({}, 'The event log is the one that this database has followed.')
      problem = undefined
    } catch (error) {
      if (error instanceof OtherLog) note(error)
      throw error
    }
  }

  async function assertSoon (): Promise<void> {
    await untilNotOther(async () => await refuseOtherLog(pool, streams, await readUpTo()))
    await assert()
  }

  async function wentBack (proof: AppendedBehind): Promise<void> {
    const { position } = await furthestOf(pool, await readUpTo())
    if (position < proof.readUpTo) return
    note(older(saysAppendedBehind(proof)))
    await noteAppendedBehind(pool, proof)
  }

  function note (found: OtherLog): void {
    if (found.message !== problem?.message) log.error({}, found.message)
    problem = found
  }
}

/** What fails was told; an outage is reported by others. @returns what ends it */
function repeating (everyMs: number, look: () => Promise<void>): () => Promise<void> {
  const stopping = new AbortController()
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await pause(everyMs, stopping.signal)
      if (!stopping.signal.aborted) await look().catch(() => {})
    }
  })()
  return async () => {
    stopping.abort()
    await looking
  }
}

/** Gives a log that is another one a moment; what else is wrong is found again. */
async function untilNotOther (look: () => Promise<void>): Promise<void> {
  for (const giveUpAt = Date.now() + soonMs.within; Date.now() < giveUpAt;) {
    const problem = await look().catch((error: unknown) => error)
    if (!(problem instanceof OtherLog)) return
    await pause(soonMs.every, new AbortController().signal)
  }
}
