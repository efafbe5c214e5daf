// Counts the parked streams of every generation, for metrics.
import type { Pool } from 'pg'

export interface ParkedStreams { projection: string, generation: string, streams: number }

export async function countParkedStreams (pool: Pool): Promise<ParkedStreams[]> {
  const { rows } = await pool.query<{ name: [string, string], streams: number }>(`
    SELECT regexp_match(consumer, '^read_(\\w+)_g(\\d+)$') AS name, count(DISTINCT stream)::int AS streams
    FROM ledger.parked_events WHERE consumer ~ '^read_\\w+_g\\d+$' GROUP BY consumer`)
  return rows.map(({ name: [projection, generation], streams }) => ({ projection, generation, streams }))
}
