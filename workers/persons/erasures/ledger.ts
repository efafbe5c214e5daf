// What the ledger has of a person beside the delivery log, which follows the events.
import type { Pool } from 'pg'
import { areErasedInFlight } from '../../deliveries/attempts/in-flight.js'
import { unseal, type SealedRow, type SecretKeys } from '../../../src/privacy/sealed-text.js'
import { forgetRedeliveries } from './forget-answers.js'
import type { Person } from './request.js'

export interface LedgerQuestions {
  pool: Pool
  keys: SecretKeys
  /** From then on an attempt without an outcome has no worker any more, in milliseconds. */
  abandonedAfterMs: number
  /** Whether a request for a copy was for this person. */
  isOf (requestId: string, person: Person): Promise<boolean>
  /** Whether any of these calls of the user is erased. */
  hasErased (userId: string, callIds: readonly string[]): Promise<boolean>
}

/** @returns what is under way that has the person: look again */
export async function eraseLedger (questions: LedgerQuestions, person: Person): Promise<string | undefined> {
  if (await areErasedInFlight(questions.pool, person.userId, questions.abandonedAfterMs)) return 'an attempt to send a webhook'
  await forgetRedeliveries(questions.pool, person.userId)
  if (await isBeingCopied(questions, person)) return 'a copy that is made'
  await removeCopies(questions, person)
  return undefined
}

/**
 * A copy that is being made may be of a state before, also one for another person, who answered calls of this one: it
 * ends first. A copy for the person is waited for even when nobody has begun it. A copy of anything else that was read
 * before finds its request changed: it is made anew.
 */
async function isBeingCopied ({ pool, keys }: LedgerQuestions, { userId, phoneNumber }: Person): Promise<boolean> {
  const { rows } = await pool.query<SealedRow & { is_begun: boolean }>(`
    WITH free AS (
      UPDATE ledger.person_requests SET due_at = due_at
      WHERE id IN (SELECT id FROM ledger.person_requests WHERE user_id = $1 FOR UPDATE SKIP LOCKED) RETURNING id
    )
    SELECT key_id, encode(sealed, 'base64') AS sealed, id NOT IN (SELECT id FROM free) AS is_begun
    FROM ledger.person_requests WHERE user_id = $1`, [userId])
  return rows.some((row) => row.is_begun || unseal(keys, userId, row) === phoneNumber)
}

/** Copies for the person, and others that have calls of the person. */
async function removeCopies (questions: LedgerQuestions, person: Person): Promise<void> {
  const { pool, isOf } = questions
  const { rows } = await pool.query<{ request_id: string }>(
    'SELECT request_id FROM ledger.person_exports WHERE user_id = $1 AND part = 0', [person.userId])
  for (const { request_id: id } of rows) {
    if (!await isOf(id, person) && !await hasErased(questions, person, id)) continue
    await pool.query('DELETE FROM ledger.person_exports WHERE request_id = $1', [id])
  }
}

async function hasErased (questions: LedgerQuestions, { userId }: Person, requestId: string): Promise<boolean> {
  for (let part = 0; ; part += 1) {
    const { rows: [found] } = await questions.pool.query<{ call_ids: string[] }>(
      'SELECT call_ids FROM ledger.person_exports WHERE request_id = $1 AND part = $2', [requestId, part])
    if (!found) return false
    if (await questions.hasErased(userId, found.call_ids)) return true
  }
}
