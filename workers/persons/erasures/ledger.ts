// What the ledger has of a person beside the delivery log, which follows the events.
import type { Pool } from 'pg'
import { areErasedInFlight } from '../../deliveries/attempts/in-flight.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../../src/privacy/sealed-text.js'
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
  if (!await forgetAnswers(questions, person)) return 'an answer that is written'
  if (await isBeingCopied(questions, person)) return 'a copy that is made'
  await removeCopies(questions, person)
  return undefined
}

interface Answer { data?: { call_id?: unknown, attempts?: Array<{ response_excerpt?: unknown }> } }

/**
 * Answers to redeliveries show what receivers had answered.
 * @returns false when one was written meanwhile, as `secrets reseal` does
 */
async function forgetAnswers ({ pool, keys }: LedgerQuestions, { userId }: Person): Promise<boolean> {
  const { rows } = await pool.query<SealedRow & { ctid: string }>(`
    SELECT ctid::text, answer_key_id AS key_id, encode(answer, 'base64') AS sealed FROM ledger.idempotency_keys
    WHERE user_id = $1 AND route = '/user/webhook-deliveries/:id/redeliver' AND answer IS NOT NULL`, [userId])
  let isDone = true
  for (const row of rows) {
    const answer: Answer = JSON.parse(unseal(keys, userId, row))
    if (!await isErasedCall(pool, userId, answer.data?.call_id)) continue
    for (const attempt of answer.data?.attempts ?? []) attempt.response_excerpt = null
    const { key_id: keyId, sealed } = seal(keys, userId, JSON.stringify(answer))
    const { rowCount } = await pool.query(`
      UPDATE ledger.idempotency_keys SET answer_key_id = $2, answer = decode($3, 'base64')
      WHERE ctid = $1::tid AND answer = decode($4, 'base64')`, [row.ctid, keyId, sealed, row.sealed])
    isDone &&= rowCount === 1
  }
  return isDone
}

async function isErasedCall (pool: Pool, userId: string, callId: unknown): Promise<boolean> {
  if (typeof callId !== 'string') return false
  const { rowCount } = await pool.query(`
    SELECT FROM ledger.webhook_deliveries WHERE call_id = $2 AND user_id = $1 AND erased_at IS NOT NULL`, [userId, callId])
  return rowCount === 1
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
