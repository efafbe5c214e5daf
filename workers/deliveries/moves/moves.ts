// Pending deliveries follow their assistant or endpoint. The change itself is one small row; the deliveries are moved
// in batches, each a transaction: a process that is killed between two of them loses nothing, another one goes on.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { notifyDue } from '../due-channel.js'
import { assistantBatchSql, endpointBatchSql, isPending, zeroId } from './batch-sql.js'
import { hasRows, type Periodic } from '../../periodic.js'

/** Where the pending deliveries of an assistant go; without an endpoint they are held, as its webhook is off. */
export interface Target { assistantId: number, endpointId: string | null }

/** Rows that are moved at once with the change, so that a few need not wait; and the assistants that they are of. */
const rowsWithChange = 100
const movesWithChange = 10
const batchSize = 1_000
const movesAtOnce = 100

/** Nothing is sent for these assistants to another place from the commit on. */
export async function moveAssistants (tx: PoolClient, targets: Target[]): Promise<void> {
  if (targets.length === 0) return
  const { rows } = await tx.query<{ id: string }>(`
    INSERT INTO ledger.moving_assistants AS move (assistant_id, endpoint_id)
    SELECT assistant_id, endpoint_id FROM unnest($1::bigint[], $2::bigint[]) AS target (assistant_id, endpoint_id)
    WHERE EXISTS (SELECT FROM ledger.moving_assistants m WHERE m.assistant_id = target.assistant_id)
       OR EXISTS (SELECT FROM ledger.webhook_deliveries d WHERE d.assistant_id = target.assistant_id AND ${isPending})
    ON CONFLICT (assistant_id) DO UPDATE SET endpoint_id = excluded.endpoint_id, after_id = '${zeroId}'
    RETURNING assistant_id AS id`,
  [targets.map(({ assistantId }) => assistantId), targets.map(({ endpointId }) => endpointId)])
  await moveFew(tx, assistantBatchSql, rows)
}

/** The deliveries of endpoints that this transaction suspended or resumed: it locks their rows. */
export async function moveEndpoints (tx: PoolClient, endpoints: string[]): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(`
    INSERT INTO ledger.moving_endpoints AS move (endpoint_id)
    SELECT DISTINCT id FROM unnest($1::bigint[]) AS e (id)
    WHERE EXISTS (SELECT FROM ledger.webhook_deliveries d WHERE d.endpoint_id = e.id AND ${isPending})
    ON CONFLICT (endpoint_id) DO UPDATE SET after_id = '${zeroId}'
    RETURNING endpoint_id AS id`, [endpoints])
  await moveFew(tx, endpointBatchSql, rows)
}

async function moveFew (tx: PoolClient, batchSql: string, moves: { id: string }[]): Promise<void> {
  let left = rowsWithChange
  for (const { id } of moves.slice(0, movesWithChange)) {
    if (left > 0) left -= (await moveBatch(tx, batchSql, id, left)).picked
  }
}

/** One batch of each move. @returns whether any move is not at its end */
export async function continueMoves (pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ id: string, endpoint_id: string | null, of: 'assistant' | 'endpoint' }>(`
    (SELECT assistant_id AS id, endpoint_id, 'assistant' AS of FROM ledger.moving_assistants LIMIT $1)
    UNION ALL
    (SELECT endpoint_id, endpoint_id, 'endpoint' FROM ledger.moving_endpoints LIMIT $1)`, [movesAtOnce])
  let goesOn = rows.length >= movesAtOnce
  for (const { id, endpoint_id: endpoint, of } of rows) {
    const isOver = await inTransaction(pool, async (tx) => {
      // Before the row of the move, as a change does it: so neither waits for the other one.
      await tx.query('SELECT FROM ledger.webhook_endpoints WHERE id = $1 FOR SHARE', [endpoint])
      if (await lockMove(tx, of, id) !== endpoint) return false
      return (await moveBatch(tx, of === 'assistant' ? assistantBatchSql : endpointBatchSql, id, batchSize)).picked < batchSize
    })
    goesOn ||= !isOver
  }
  return goesOn
}

/**
 * Locks a move, in a statement of its own: one that waits for a change here would not see the deliveries that came with
 * it, and would end the move without them.
 * @returns its endpoint
 */
async function lockMove (tx: PoolClient, of: 'assistant' | 'endpoint', id: string): Promise<string | null | undefined> {
  const { rows: [move] } = await tx.query<{ endpoint_id: string | null }>(
    `SELECT endpoint_id FROM ledger.moving_${of}s WHERE ${of}_id = $1 FOR UPDATE`, [id])
  return move?.endpoint_id
}

interface Batch { picked: number, due_user: string | null }

async function moveBatch (tx: PoolClient, batchSql: string, id: string, limit: number): Promise<Batch> {
  const { rows: [batch = { picked: 0, due_user: null }] } = await tx.query<Batch>(batchSql, [id, limit])
  if (batch.due_user !== null) await notifyDue(tx, batch.due_user)
  return batch
}

export const moving = (pool: Pool): Periodic => ({
  name: 'moves',
  everyMs: 2_000,
  async run () {
    if (!await hasRows(pool, 'moving_assistants', 'moving_endpoints')) return
    return await continueMoves(pool) ? 'again' : undefined
  }
})
