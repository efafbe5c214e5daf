// Which do-not-call entries there may be, from Postgres. Mostly there is none, and a read of the log costs much more.
import type { Pool } from 'pg'
import { batcher } from '../../postgres/batcher.js'
import { isAboutData } from '../../postgres/problems/about-data.js'

export interface NotedEntries {
  /** To be awaited before the event of an entry is appended. */
  note (stream: string): Promise<void>
  /** Those of the streams that may have an entry. One that was noted before this was asked is always among them. */
  mayHaveEntry (streams: readonly string[]): Promise<string[]>
}

const mostAtOnce = 1_000

/** One statement on a connection that died silently does not stop the others. */
const lanes = 2

/**
 * What was noted is in the ledger. Where that was lost, the read model makes up for it once it has passed all that was
 * in the log at our start (`isCaughtUp`); until then every stream may have an entry.
 */
export function notedEntries (pool: Pool, isCaughtUp: () => Promise<boolean>): NotedEntries {
  const isNoted = batcher<string, boolean>({
    runBatch: (streams) => find(pool, streams),
    runOne: async (stream) => (await find(pool, [stream])).get(stream) === true,
    isOfOne: isAboutData,
    limit: mostAtOnce,
    lanes
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
  const { rows } = await pool.query<{ stream: string }>({
    name: 'noted-entries',
    text: `
      SELECT stream FROM ledger.noted_entries WHERE stream = ANY ($1)
      UNION ALL SELECT stream FROM read_model.blacklist WHERE stream = ANY ($1) AND NOT is_deleted`,
    values: [streams]
  })
  const found = new Set(rows.map(({ stream }) => stream))
  return new Map(streams.map((stream) => [stream, found.has(stream)]))
}
