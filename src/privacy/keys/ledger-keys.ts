// Keys of persons in the ledger: a cache of what the log has, which can be emptied at any time.
import type { Pool } from 'pg'
import { lookUp } from '../../postgres/look-up.js'
import type { SealedRow } from '../sealed-text.js'

/** A key as the ledger has it; without `wrapped` it was erased. */
export interface KeptKey { person: string, keyId: string, wrapped: SealedRow | undefined }

/** As `keyColumns` gives them. */
export interface KeyRow { person: string, id: string, key_id: string | null, sealed: string | null }

/** Of `ledger.person_keys`. */
export const keyColumns = 'key_id AS id, person, wrapped_by AS key_id, encode(wrapped, \'base64\') AS sealed'

const currentKey = {
  name: 'person-key',
  types: ['text'],
  text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE person = $1 AND wrapped IS NOT NULL`
}

export class LedgerKeys {
  constructor (private readonly pool: Pool) {}

  /** The key that is not erased. Look-ups of one moment share a statement. */
  async current (person: string): Promise<KeptKey | undefined> {
    const row = await lookUp<KeyRow>(this.pool, currentKey, [person])
    return row && keptKey(row)
  }

  /** In one statement. */
  async find (keyIds: readonly string[]): Promise<KeptKey[]> {
    const { rows } = await this.pool.query<KeyRow>({
      name: 'person-keys',
      // Planned once for any number: Postgres does not see how many there are.
      text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE key_id = ANY ((SELECT $1::uuid[])::uuid[])`,
      values: [keyIds]
    })
    return rows.map(keptKey)
  }

  /** One that was erased stays so. */
  async note (keys: readonly KeptKey[]): Promise<void> {
    await this.pool.query({
      name: 'note-person-keys',
      text: `
        INSERT INTO ledger.person_keys (key_id, person, wrapped_by, wrapped)
        SELECT id, person, wrapped_by, decode(wrapped, 'base64')
        FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS noted (id, person, wrapped_by, wrapped)
        ORDER BY id
        ON CONFLICT (key_id) DO UPDATE SET wrapped_by = NULL, wrapped = NULL WHERE excluded.wrapped IS NULL`,
      values: [
        keys.map(({ keyId }) => keyId), keys.map(({ person }) => person),
        keys.map(({ wrapped }) => wrapped?.key_id ?? null), keys.map(({ wrapped }) => wrapped?.sealed ?? null)
      ]
    })
  }

  /** Every key that is known of a person. */
  async idsOf (person: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      'SELECT key_id AS id FROM ledger.person_keys WHERE person = $1', [person])
    return rows.map(({ id }) => id)
  }
}

/** The key of a row that was found. */
export function keptKey ({ person, id: keyId, key_id, sealed }: KeyRow): KeptKey {
  return { person, keyId, wrapped: key_id === null || sealed === null ? undefined : { key_id, sealed } }
}
