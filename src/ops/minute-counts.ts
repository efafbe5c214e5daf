// Writes once a minute what this process did in it: for the charts of a day, and for rates.
import type { Pool } from 'pg'
import { endsWithin, pause, repeat } from '../timing.js'
import type { Services } from '../services/services.js'

const minuteMs = 60_000
const kept = '25 hours'
const lastWriteMs = 1_000

/**
 * Writes nothing for a minute in which nothing was counted.
 * @param read counters by name; they only rise @returns stops it, after a last write
 */
export function recordMinutes (
  { pool, holder }: Pick<Services, 'pool' | 'holder'>, read: () => Map<string, number>, log: { warn (details: object, message: string): void }
): () => Promise<unknown> {
  let written = new Map<string, number>()
  const stop = repeat(async (signal) => {
    const begun = Math.floor(Date.now() / minuteMs) * minuteMs
    await pause(begun + minuteMs - Date.now(), signal)
    await record(new Date(begun)).catch((error: unknown) => {
      log.warn({ err: error }, 'the counts of a minute could not be written, the next ones have them')
    })
  })
  return () => endsWithin(lastWriteMs, stop())

  async function record (minute: Date): Promise<void> {
    const counted = read()
    const more = [...counted].map(([name, count]) => ({ name, count: count - (written.get(name) ?? 0) }))
    const news = more.filter(({ count }) => count > 0)
    if (news.length > 0) {
      await pool.query(`
        WITH old AS (DELETE FROM ledger.minute_counts WHERE minute < now() - interval '${kept}')
        INSERT INTO ledger.minute_counts AS known (minute, process, name, count)
        SELECT $1, $2, name, count FROM unnest($3::text[], $4::bigint[]) AS news (name, count)
        ON CONFLICT (minute, process, name) DO UPDATE SET count = known.count + excluded.count`,
      [minute, holder, news.map(({ name }) => name), news.map(({ count }) => count)])
    }
    written = counted
  }
}

/**
 * Commands of all APIs in the last 24 hours by ten minutes and by answer, oldest first. Leaves out ten minutes without
 * a command.
 */
export async function commandDay (pool: Pool) {
  const { rows } = await pool.query<{ at: Date, accepted: number, refused: number, failed: number }>(`
    SELECT date_bin('10 minutes', minute, '2000-01-01Z') AS at, ${['accepted', 'refused', 'failed'].map((kind) =>
      `coalesce(sum(count) FILTER (WHERE name = 'commands ${kind}'), 0)::float8 AS ${kind}`).join(', ')}
    FROM ledger.minute_counts WHERE name LIKE 'commands %' AND minute >= now() - interval '24 hours'
    GROUP BY at ORDER BY at`)
  return rows.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts }))
}

/** Events a second in the last minute that is written, by the consumer's name. */
export async function ratesByConsumer (pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ name: string, rate: number }>(`
    SELECT substr(name, 8) AS name, sum(count)::float8 / 60 AS rate FROM ledger.minute_counts
    WHERE name LIKE 'events %' AND minute = date_trunc('minute', now()) - interval '1 minute' GROUP BY name`)
  return new Map(rows.map(({ name, rate }) => [name, rate]))
}
