// Writes into the ledger what the log was just found to say of keys.
import type { Pool } from 'pg'
import type { KeptKey } from './ledger-keys.js'

/** One that was erased stays so. What was looked at and is not there any more, its row tells nothing of. */
export async function correct (
  pool: Pool, keys: readonly KeptKey[], lookedAt: readonly string[]
): Promise<void> {
  await pool.query(`
    WITH there AS (
      INSERT INTO ledger.person_keys (key_id, person, wrapped_by, wrapped)
      SELECT id, person, wrapped_by, decode(wrapped, 'base64')
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS kept (id, person, wrapped_by, wrapped) ORDER BY id
      ON CONFLICT (key_id) DO UPDATE SET wrapped_by = excluded.wrapped_by, wrapped = excluded.wrapped
        WHERE person_keys.wrapped IS NOT NULL
    )
    DELETE FROM ledger.person_keys
    WHERE key_id = ANY ($5::uuid[]) AND key_id <> ALL ($1::uuid[]) AND wrapped IS NOT NULL`,
  [
    keys.map(({ keyId }) => keyId), keys.map(({ person }) => person),
    keys.map(({ wrapped }) => wrapped?.key_id), keys.map(({ wrapped }) => wrapped?.sealed), lookedAt
  ])
}
