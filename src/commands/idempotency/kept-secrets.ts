// What an answer shows once and no event holds: kept sealed beside its Idempotency-Key, so that a retry shows it again.
import type { Pool } from 'pg'
import type { Claim } from './idempotency.js'
import type { Sealing } from './ledger-commands.js'

export interface KeptSecrets {
  /**
   * The secret of this request: one that an earlier try of it made, or a new one. Without an Idempotency-Key it is
   * kept nowhere. Comes before the append, under a key that is claimed.
   */
  keep (claim: Claim, make: () => string): Promise<string>
  /** The secret of a request that was answered. @throws Error when none was kept */
  find (claim: Claim): Promise<string>
}

export function openKeptSecrets (pool: Pool, sealing: Sealing): KeptSecrets {
  return {
    async keep (claim, make) {
      if (claim.key === undefined) return make()
      const { key_id: keyId, sealed } = sealing.seal(claim.userId, make())
      return unsealed(claim, await query(claim, `
        UPDATE ledger.idempotency_keys
        SET answer_key_id = coalesce(answer_key_id, $5), answer = coalesce(answer, decode($6, 'base64'))
        WHERE ${isThis} RETURNING ${columns}`, [keyId, sealed]))
    },
    find: async (claim) => unsealed(claim, await query(claim, `
      SELECT ${columns} FROM ledger.idempotency_keys WHERE ${isThis} AND answer IS NOT NULL`))
  }

  async function query ({ userId, method, route, key }: Claim, text: string, values: string[] = []) {
    const { rows } = await pool.query<KeptRow>(text, [userId, method, route, key, ...values])
    return rows[0]
  }

  function unsealed ({ userId }: Claim, row: KeptRow | undefined): string {
    if (!row) throw new Error('the secret that belongs to an Idempotency-Key is gone')
    return sealing.unseal(userId, row)
  }
}

interface KeptRow { key_id: string, sealed: string }

const isThis = 'user_id = $1 AND method = $2 AND route = $3 AND key = $4'
const columns = "answer_key_id AS key_id, encode(answer, 'base64') AS sealed"
