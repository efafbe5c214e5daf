// Which events have to wait, as earlier ones of their streams are parked, and which ones an operator has given up.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { storable } from '../../src/subscriptions/park.js'

type Event = Pick<StoredEvent, 'stream' | 'revision'>

/** Events that an operator has skipped: projections and replays pass over them. */
export interface Skipped {
  has (event: Event): boolean
}

/** The skipped events of the projection of this name. */
export async function loadSkipped (db: Pool | PoolClient, projection: string): Promise<Skipped> {
  const { rows } = await db.query<EventKey>(
    'SELECT stream, revision FROM ledger.skipped_events WHERE projection = $1', [projection])
  return skippedOf(rows)
}

/** An event that an operator has given up; `at` is ISO 8601. */
export interface SkippedEvent { projection: string, stream: string, revision: string, reason: string, at: string }

/** Every skipped event of the projections of these names, or of the dispatcher, the oldest first. */
export async function skippedEvents (db: Pool, names: readonly string[]): Promise<SkippedEvent[]> {
  const { rows } = await db.query<Omit<SkippedEvent, 'at'> & { at: Date }>(`
    SELECT projection, stream, revision, reason, skipped_at AS at
    FROM ledger.skipped_events WHERE projection = ANY($1) ORDER BY skipped_at`, [names])
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

/** What is to be known of the streams of some events before they are projected. */
export interface Parked {
  skipped: Skipped
  /** Streams whose events have to wait. */
  streams: Set<string>
}

/** `consumer` names the generation, for instance `read_leads_g1`. */
export async function loadParked (
  db: Pool | PoolClient, consumer: string, projection: string, events: StoredEvent[]
): Promise<Parked> {
  const { rows } = await db.query<{ stream: string, revision: string | null }>(`
    WITH wanted AS MATERIALIZED (
      SELECT stream, ledger.digest_of(stream) AS digest FROM (SELECT DISTINCT unnest($3::text[]) AS stream) streams)
    SELECT stream, NULL AS revision FROM wanted WHERE EXISTS (
      SELECT FROM ledger.parked_events parked WHERE consumer = $1 AND parked.stream_digest = wanted.digest)
    UNION ALL
    SELECT wanted.stream, revision FROM wanted JOIN ledger.skipped_events skipped ON skipped.stream_digest = wanted.digest
    WHERE projection = $2`,
  [consumer, projection, events.map(({ stream }) => storable(stream))])
  return {
    skipped: skippedOf(rows.filter((row): row is EventKey => row.revision !== null)),
    streams: new Set(rows.flatMap(({ stream, revision }) => revision === null ? [stream] : []))
  }
}

/** As Postgres answers it. */
interface EventKey { stream: string, revision: string }

function skippedOf (rows: EventKey[]): Skipped {
  const skipped = new Set(rows.map(({ stream, revision }) => `${revision}@${stream}`))
  return { has: ({ stream, revision }) => skipped.size > 0 && skipped.has(`${revision}@${storable(stream)}`) }
}
