// Sets events aside that cannot be projected, with all later events of their streams, so that they hold up nobody else.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../src/domain/stored-event.js'

export class Quarantine {
  private constructor (private readonly consumer: string, private readonly streams: Set<string>) {}

  /** `consumer` names the generation, for instance `read_leads_g1`. */
  static async load (db: Pool | PoolClient, consumer: string): Promise<Quarantine> {
    const { rows } = await db.query<{ stream: string }>('SELECT DISTINCT stream FROM ledger.quarantine WHERE consumer = $1', [consumer])
    return new Quarantine(consumer, new Set(rows.map(({ stream }) => stream)))
  }

  /** Why events of this stream have to wait, if they have to. */
  holds (stream: string): string | undefined {
    return this.streams.has(stream) ? 'an earlier event of this stream is in quarantine' : undefined
  }

  /** Writes the event down in the transaction that moves the checkpoint past it. */
  async setAside (tx: PoolClient, { stream, revision, position, type }: StoredEvent, error: string): Promise<void> {
    this.streams.add(stream)
    await tx.query(`
      INSERT INTO ledger.quarantine (consumer, stream, revision, position, event_type, error) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT DO NOTHING`, [this.consumer, stream, revision, position, type, error])
  }
}

/** Events that an operator has given up; who folds the log passes over them. */
export interface Skips {
  has (event: Pick<StoredEvent, 'stream' | 'revision'>): boolean
}

/** All skips of the projection of this name. */
export async function loadSkips (_db: Pool | PoolClient, _projection: string): Promise<Skips> {
  return { has: () => false }
}
