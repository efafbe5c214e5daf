// Refuses a SECRET_KEY that cannot open the persons in the log: at the start, not when one of them is read.
import type { Pool } from 'pg'
import type { Streams } from '../../log/event-log.js'
import { otherKey } from '../keys/unwrap.js'
import { aFewAtOnce, currentKey } from '../keys/log-keys.js'
import { PersonKeyUnreadable } from '../keys/person-keys.js'
import { keyId as idOf, type SecretKeys } from '../sealed-text.js'
import { noteKeysOfLog } from '../keys/walk.js'

export interface LostKeysOptions {
  pool: Pool
  streams: Pick<Streams, 'head' | 'follow' | 'read' | 'last'>
  secretKeys: SecretKeys
}

/** A start looks so long for the keys of the log where the ledger has none. Later ones speak for themselves. */
const lookIntoLogMs = 2_000

/** @throws PersonKeyUnreadable with what mends it, EventStoreUnavailable */
export async function refuseLostKeysAtStart (options: LostKeysOptions): Promise<void> {
  const { rowCount } = await options.pool.query('SELECT FROM ledger.person_keys WHERE wrapped IS NOT NULL LIMIT 1')
  if (!rowCount) await noteKeysOfLog({ ...options, signal: AbortSignal.timeout(lookIntoLogMs) })
  await refuseLostKeys(options)
}

const most = 100

/**
 * Looks at all that the ledger knows. Its rows may be older than the log, where keys were encrypted anew meanwhile: the
 * log decides, and such a row goes.
 * @throws PersonKeyUnreadable, EventStoreUnavailable
 */
export async function refuseLostKeys ({ pool, streams, secretKeys }: LostKeysOptions): Promise<void> {
  const known = [secretKeys.current, ...secretKeys.previous].map(idOf)
  for (;;) {
    const { rows } = await pool.query<{ id: string, person: string }>(`
      SELECT key_id AS id, person FROM ledger.person_keys WHERE wrapped_by <> ALL ($1) LIMIT ${most}`, [known])
    if (rows.length === 0) return
    await aFewAtOnce(rows, async ({ person }) => {
      const { wrapped } = await currentKey(streams, person) ?? {}
      if (wrapped && !known.includes(wrapped.key_id)) throw new PersonKeyUnreadable(otherKey)
    })
    await pool.query('DELETE FROM ledger.person_keys WHERE key_id = ANY ($1::uuid[]) AND wrapped_by <> ALL ($2)',
      [rows.map(({ id }) => id), known])
  }
}
