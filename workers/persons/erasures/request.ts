// A request for an erasure as its row: the number is at rest only there, encrypted, and goes when the request ends.
import type { Pool } from 'pg'
import type { Person } from '../../../projections/persons.js'
import { seal, type SecretKeys } from '../../../src/privacy/sealed-text.js'
import { prepareRequest } from '../../background/requests.js'

export const erasureKind = 'person-erasure'

/** Erasures of a user that have not ended: one is worked on, the others wait. */
const mostOfUser = 100

/** Those that cannot go on, the oldest first. */
export async function waitingErasures (pool: Pool): Promise<Array<{ id: string, waits_for: string }>> {
  const { rows } = await pool.query<{ id: string, waits_for: string }>(`
    SELECT id, progress ->> 'waits_for' AS waits_for FROM ledger.background_requests
    WHERE kind = '${erasureKind}' AND state = 'accepted' AND progress ? 'waits_for' ORDER BY created_at, id LIMIT 100`)
  return rows
}

/** Comes before its event; after that it is accepted. False when the user has so many that no other may be. */
export async function prepareErasure (
  pool: Pool, keys: SecretKeys, { id, userId, phoneNumber }: Person & { id: string }
): Promise<boolean> {
  const input = seal(keys, userId, phoneNumber)
  return await prepareRequest(pool, { id, kind: erasureKind, userId, input }, mostOfUser)
}
