// Counts the parked streams of every generation and of the dispatcher, for metrics.
import type { Pool } from 'pg'

/** The dispatcher has no generations: then it is empty. */
export interface ParkedStreams { projection: string, generation: string, streams: number }

export async function countParkedStreams (pool: Pool): Promise<ParkedStreams[]> {
  const { rows } = await pool.query<{ consumer: string, name: [string, string] | null, streams: number }>(`
    SELECT consumer, regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name,
      count(DISTINCT stream_digest)::int AS streams
    FROM ledger.parked_events GROUP BY consumer`)
  return rows.map(({ consumer, name, streams }) =>
    name ? { projection: name[0], generation: name[1], streams } : { projection: consumer, generation: '', streams })
}
