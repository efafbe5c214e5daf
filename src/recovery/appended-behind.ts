// Proof that the log had gone back, though it has grown since: an event that was appended behind what had been read.
import type { Pool } from 'pg'
import type { Streams } from '../log/event-log.js'

export interface AppendedBehind {
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
export async function noteAppendedBehind (
  pool: Pool, { stream, revision, position, commandId, readUpTo }: AppendedBehind
): Promise<void> {
  await pool.query(`
    INSERT INTO ledger.appended_behind (stream, revision, position, command_id, read_up_to)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, [stream, revision, position, commandId, readUpTo])
}

/** Says what was noted, while that event is in the log: the right one, put back in its place, lacks it. */
export async function findAppendedBehind (pool: Pool, streams: Pick<Streams, 'read'>): Promise<string | undefined> {
  const { rows: [noted] } = await pool.query<Noted>(
    'SELECT stream, revision, position, command_id, read_up_to FROM ledger.appended_behind')
  if (!noted) return undefined
  const [found] = await streams.read(noted.stream, BigInt(noted.revision), 1)
  if (found?.metadata.command_id !== noted.command_id || found.position !== BigInt(noted.position)) return undefined
  return saysAppendedBehind({ position: found.position, readUpTo: BigInt(noted.read_up_to) })
}

interface Noted { stream: string, revision: string, position: string, command_id: string, read_up_to: string }

export const saysAppendedBehind = ({ position, readUpTo }: Pick<AppendedBehind, 'position' | 'readUpTo'>) =>
  `The event log took an event at position ${position} after it had been read up to ${readUpTo}`
