// The row of a lease in the database: who holds it, under which epoch, and until when.
import type { Pool } from 'pg'

export interface LeaseOptions {
  pool: Pool
  /** What is leased, for instance `projection assistants g1`. */
  name: string
  /** The process that holds it, for operators: host, pid and a random part. */
  holder: string
  /** Gives the lease up to a holder that does not yield: for commands that only fill in for a role. */
  yields?: boolean | undefined
  signal: AbortSignal
  times?: LeaseTimes | undefined
}

/** In milliseconds. */
export interface LeaseTimes {
  renewEvery: number
  /** After its last renewal. */
  expiresAfter: number
  /** How often a standby tries to acquire it. */
  tryEvery: number
}

/** An expired lease is taken within five seconds of its holder's last sign. */
export const usualTimes: LeaseTimes = { renewEvery: 1_000, expiresAfter: 4_000, tryEvery: 500 }

/** The process that holds the lease; nothing when it is free. */
export async function leaseHolder (pool: Pool, name: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ holder: string }>(
    'SELECT holder FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp()', [name])
  return rows[0]?.holder
}

/** The names of the leases that `holder` has now. */
export async function leasesOf (pool: Pool, holder: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM ledger.leases WHERE holder = $1 AND expires_at > clock_timestamp()', [holder])
  return rows.map(({ name }) => name)
}

/** @returns the new epoch; nothing while another process holds the lease */
export async function acquire (options: LeaseOptions): Promise<bigint | undefined> {
  const { pool, name, holder, yields = false, times = usualTimes } = options
  const { rows } = await pool.query<{ epoch: string }>(`
    INSERT INTO ledger.leases AS held (name, epoch, holder, expires_at, yields)
    VALUES ($1, 1, $2, clock_timestamp() + $3 * interval '1 ms', $4)
    ON CONFLICT (name) DO UPDATE
      SET epoch = held.epoch + 1, holder = excluded.holder, expires_at = excluded.expires_at, yields = excluded.yields
      WHERE held.expires_at < clock_timestamp() OR (held.yields AND NOT excluded.yields)
    RETURNING epoch`, [name, holder, times.expiresAfter, yields])
  return rows[0] && BigInt(rows[0].epoch)
}

/** What a holder has: its lease, the epoch that it was acquired under, and for how long it is wanted further. */
export interface Held { name: string, epoch: bigint, forMs: number }

/** Renews leases in one statement. @returns which of them are still held: a process may wait for itself to yield one */
export async function renewAll (pool: Pool, held: readonly Held[]): Promise<Set<Held>> {
  const { rows } = await pool.query<{ nth: string }>({
    name: 'renew-leases',
    text: `
      UPDATE ledger.leases l SET expires_at = clock_timestamp() + held.for_ms * interval '1 ms'
      FROM unnest($1::text[], $2::bigint[], $3::float8[]) WITH ORDINALITY AS held (name, epoch, for_ms, nth)
      WHERE l.name = held.name AND l.epoch = held.epoch AND l.expires_at >= clock_timestamp() RETURNING nth`,
    values: [held.map(({ name }) => name), held.map(({ epoch }) => epoch), held.map(({ forMs }) => forMs)]
  })
  return new Set(rows.flatMap(({ nth }) => held[Number(nth) - 1] ?? []))
}

export async function release (pool: Pool, name: string, epoch: bigint): Promise<void> {
  await pool.query('UPDATE ledger.leases SET expires_at = \'-infinity\' WHERE name = $1 AND epoch = $2', [name, epoch])
}
