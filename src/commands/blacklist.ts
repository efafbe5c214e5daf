// Which numbers a user does not want called: from the streams themselves, where Postgres does not rule an entry out.
import type { Pool } from 'pg'
import { blacklistStream } from '../features/blacklist/events.js'
import { blacklistDecider, isListed, type Listed } from '../features/blacklist/model.js'
import type { Streams } from '../log/event-log.js'
import { batcher } from '../postgres/batcher.js'
import { isAboutData } from '../postgres/problems/about-data.js'
import { foldStream } from './handle.js'
import type { PhoneHash } from './phone-hash.js'

export interface Blacklists extends Pick<NotedEntries, 'note'> {
  /** The stream that says whether this user may have this number called. */
  streamOf (userId: string, phoneNumber: string): string
  /** Those of the numbers that are listed: what was appended before counts. @throws EventStoreUnavailable */
  listed (userId: string, phoneNumbers: readonly string[]): Promise<Listed>
}

/** One read of the newest event for each number that may have an entry, all at once: a lead has eleven at most. */
export function openBlacklists (
  streams: Pick<Streams, 'last' | 'visit'>, digest: PhoneHash, noted: NotedEntries
): Blacklists {
  const streamOf = (userId: string, phoneNumber: string) => blacklistStream(digest(userId), digest(phoneNumber))
  return {
    streamOf,
    note: noted.note,
    async listed (userId, phoneNumbers) {
      const numbers = new Map(phoneNumbers.map((number) => [streamOf(userId, number), number]))
      const found = await Promise.all((await noted.mayHaveEntry([...numbers.keys()])).map(async (stream) =>
        await isListedIn(streams, stream) ? [numbers.get(stream) ?? ''] : []))
      return new Set(found.flat())
    }
  }
}

/** The newest event says it where it is the entry; else all that can be read does, which few numbers have. */
async function isListedIn (streams: Pick<Streams, 'last' | 'visit'>, stream: string): Promise<boolean> {
  const newest = await streams.last(stream)
  if (!newest) return false
  if (newest.type === 'PhoneNumberBlacklisted') return true
  return isListed((await foldStream(streams, { ...blacklistDecider, skipsUnreadable: true }, stream)).state)
}

interface NotedEntries {
  /** To be awaited before the event of an entry is appended to the stream. */
  note: (stream: string) => Promise<void>
  /** Those of the streams that may have an entry. One that was noted before this was asked is always among them. */
  mayHaveEntry (streams: readonly string[]): Promise<string[]>
}

/**
 * What was noted is in the ledger. Where that was lost, the read model makes up for it once it has passed all that was
 * in the log at our start (`isCaughtUp`); until then every stream may have an entry.
 */
export function notedEntries (pool: Pool, isCaughtUp: () => Promise<boolean>): NotedEntries {
  const isNoted = batcher<string, boolean>({
    runBatch: (streams) => find(pool, streams),
    runOne: async (stream) => (await find(pool, [stream])).get(stream) === true,
    isOfOne: isAboutData,
    limit: 1_000,
    lanes: 2 // one statement on a connection that died silently does not stop the others
  })
  return {
    async note (stream) {
      await pool.query({
        name: 'note-entry',
        text: 'INSERT INTO ledger.noted_entries (stream) VALUES ($1) ON CONFLICT DO NOTHING',
        values: [stream]
      })
    },
    async mayHaveEntry (streams) {
      if (!await isCaughtUp()) return [...streams]
      const noted = await Promise.all(streams.map((stream) => isNoted(stream)))
      return streams.filter((_, index) => noted[index])
    }
  }
}

async function find (pool: Pool, streams: string[]): Promise<Map<string, boolean>> {
  const { rows } = await pool.query<{ stream: string, is_noted: boolean }>({
    name: 'noted-entries',
    text: `
      SELECT asked.stream, EXISTS (SELECT FROM ledger.noted_entries WHERE stream = asked.stream) OR EXISTS (
        SELECT FROM read_model.blacklist WHERE stream = asked.stream AND NOT is_deleted) AS is_noted
      FROM unnest((SELECT $1::text[])) AS asked (stream)`,
    values: [streams]
  })
  return new Map(rows.map(({ stream, is_noted }) => [stream, is_noted]))
}
