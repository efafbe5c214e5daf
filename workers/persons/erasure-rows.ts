// Rows of the ledger that an erasure needs, and those that it erases. The delivery log follows the events instead.
import type { Pool } from 'pg'
import type { Person } from '../../projections/persons.js'
import { seal, type SecretKeys, unseal, type SealedRow } from '../../src/privacy/sealed-text.js'
import { prepareRequest } from '../work/requests.js'
import { findRequest } from '../../src/commands/person-requests.js'
import type { PersonRequestType } from '../../src/features/persons/events.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import type { Services } from '../../src/services/services.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { areErasedInFlight } from '../deliveries/pending.js'
import { listingKey } from '../dispatch/known.js'

export const erasureKind = 'person-erasure'
export const exportKind = 'person-export'

/** Most unfinished erasures of a user, and most exports that are being made or kept: each has megabytes. */
export const mostOfUser = 100

interface WaitingRequest { id: string, type: string, waits_for: string }

/** Requests that cannot go on, the oldest first. */
export async function waitingRequests (pool: Pool): Promise<WaitingRequest[]> {
  const { rows } = await pool.query<WaitingRequest>(`
    SELECT id, substr(kind, 8) AS type, progress ->> 'waits_for' AS waits_for FROM ledger.work
    WHERE kind IN ('${erasureKind}', '${exportKind}') AND state = 'accepted' AND progress ? 'waits_for' ORDER BY created_at, id LIMIT 100`)
  return rows
}

/**
 * Call it before the event is appended; after that, accept the request. Only this row stores the number, encrypted.
 * @returns false if the user has too many requests
 */
export async function preparePersonRequest (
  pool: Pool, keys: SecretKeys, kind: PersonRequestType, { id, userId, phoneNumber }: Person & { id: string }
): Promise<boolean> {
  const input = seal(keys, userId, phoneNumber)
  const asked = kind === 'export' ? { kind: exportKind, countsKept: true } : { kind: erasureKind }
  return await prepareRequest(pool, { ...asked, id, userId, input }, mostOfUser)
}

type LedgerServices = Pick<Services, 'pool' | 'streams' | 'keys' | 'phoneHash'>

/** @returns what still runs with data of the person; then look again */
export async function eraseLedger (services: LedgerServices, person: Person): Promise<string | undefined> {
  const { pool } = services
  if (await areErasedInFlight(pool, person.userId)) return 'an attempt to send a webhook'
  await forgetRedeliveries(pool, person.userId)
  if (await isBeingCopied(services, person)) return 'a copy that is made'
  await removeCopies(services, person)
  return undefined
}

const unmade = `user_id = $1 AND kind = '${exportKind}' AND state IN ('prepared', 'accepted')`

/**
 * An export that is being made may be of an earlier state, even one for another person who answered this one's calls:
 * it must end first. So must an export for the person, even if nobody has begun it. Other requests are changed here, so
 * that an export which read an earlier state fails and is made anew.
 */
async function isBeingCopied ({ pool, keys }: LedgerServices, { userId, phoneNumber }: Person): Promise<boolean> {
  const { rows } = await pool.query<SealedRow & { is_begun: boolean }>(`
    WITH free AS (
      UPDATE ledger.work SET due_at = due_at
      WHERE id IN (SELECT id FROM ledger.work WHERE ${unmade} FOR UPDATE SKIP LOCKED) RETURNING id
    )
    SELECT input ->> 'key_id' AS key_id, input ->> 'sealed' AS sealed, id NOT IN (SELECT id FROM free) AS is_begun
    FROM ledger.work WHERE ${unmade}`, [userId])
  return rows.some((row) => row.is_begun || unseal(keys, userId, row) === phoneNumber)
}

/** Removes exports for the person, and others that have erased calls. */
async function removeCopies (
  { pool, streams, phoneHash }: LedgerServices, { userId, phoneNumber }: Person
): Promise<void> {
  const { rows } = await pool.query<{ request_id: string }>(
    'SELECT request_id FROM ledger.person_exports WHERE user_id = $1 AND part = 0', [userId])
  for (const { request_id: id } of rows) {
    const isOf = (await findRequest(streams, id))?.request.number_digest === phoneHash(phoneNumber)
    if (!isOf && !await hasErasedCalls(pool, userId, id)) continue
    await pool.query('DELETE FROM ledger.person_exports WHERE request_id = $1', [id])
  }
}

async function hasErasedCalls (pool: Pool, userId: string, requestId: string): Promise<boolean> {
  const { rowCount } = await pool.query(`
    SELECT FROM ledger.person_exports CROSS JOIN unnest(call_ids) AS call_id JOIN read_model.calls ON id = call_id
    WHERE request_id = $2 AND calls.user_id = $1 AND report IS NULL LIMIT 1`, [userId, requestId])
  return rowCount === 1
}

// Empties stored answers about an erased person. The keys stay, so that retries cannot create the person again.
const forgotten = "request_hash = '', answer_key_id = NULL, answer = NULL"

/** Forgets all answers about these streams. */
export async function forgetAnswers (pool: Pool, userId: string, streams: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE ledger.idempotency_keys SET ${forgotten} WHERE user_id = $1 AND about && $2::text[]`, [userId, streams])
}

/** Covers commands whose answer was not stored yet, or was lost. */
export async function forgetCommands (pool: Pool, userId: string, commandIds: readonly string[]): Promise<void> {
  await pool.query(
    `UPDATE ledger.idempotency_keys SET ${forgotten} WHERE user_id = $1 AND command_id = ANY ($2::uuid[])`, [userId, commandIds])
}

/** Answers to redeliveries of erased calls show what receivers had answered. */
async function forgetRedeliveries (pool: Pool, userId: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys kept SET ${forgotten}
    WHERE user_id = $1 AND about[1] LIKE 'call-%' AND answer IS NOT NULL AND EXISTS (
      SELECT FROM ledger.webhook_deliveries
      WHERE call_id = substr(kept.about[1], 6) AND user_id = $1 AND erased_at IS NOT NULL)`, [userId])
}

/** The dispatcher may have cached a listed number: the touched checkpoint makes it read its rows again. */
export async function forgetDispatched (pool: Pool, { userId, phoneNumber }: Person): Promise<void> {
  const values = [userId, phoneNumber]
  const those = 'WHERE user_id = $1 AND phone_number = $2'
  const listing = [listingKey({ user_id: userId, phone_number: phoneNumber })]
  const { rows: [found] } = await pool.query<{ is_there: boolean }>(`
    SELECT EXISTS (SELECT FROM ledger.dispatch_blacklist WHERE key = $3)
        OR EXISTS (SELECT FROM ledger.dispatch_leads ${those}) AS is_there`, [...values, ...listing])
  if (!found?.is_there) return
  await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, dispatcherCheckpoint)
    await tx.query('DELETE FROM ledger.dispatch_blacklist WHERE key = $1', listing)
    await tx.query(`
      UPDATE ledger.dispatch_leads SET phone_number = '', variables = '{"customer_name":"","email":""}' ${those}`, values)
  })
}

interface WaitingLead { body: object, refused?: object, row: number }
interface WaitingPart { upload_id: string, first_row: number, leads: WaitingLead[], is_begun: boolean }

const partsAtOnce = 100

/**
 * Replaces waiting rows of imports that name an erased person by rows that are refused when their turn comes. Also rows
 * of a body that is still being sent, or whose process died: no request names them.
 * @returns false while a part with the number is in work: look for its leads once it is done
 */
export async function erasePendingRows (pool: Pool, person: Person): Promise<boolean> {
  for (;;) {
    const found = await refuseSome(pool, person)
    if (found.some(({ is_begun }) => is_begun)) return false
    if (found.length < partsAtOnce) return true
  }
}

/** Parts that have begun come last, and do not change. */
async function refuseSome (pool: Pool, { userId, phoneNumber }: Person): Promise<WaitingPart[]> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<WaitingPart>(`
      SELECT upload_id, first_row, leads, ids IS NOT NULL AS is_begun FROM ledger.lead_import_parts
      WHERE (user_id = $1 OR user_id IS NULL AND upload_id IN (
        SELECT (input ->> 'upload_id')::uuid FROM ledger.work
        WHERE kind = 'lead-import' AND user_id = $1 AND state IN ('prepared', 'accepted')))
        AND strpos(leads::text, $2) > 0
      ORDER BY ids IS NOT NULL, upload_id, first_row LIMIT ${partsAtOnce} FOR UPDATE`, [userId, `"${phoneNumber}"`])
    for (const { upload_id, first_row, leads } of rows.filter(({ is_begun }) => !is_begun)) {
      const left = leads.map((lead) => names(lead, phoneNumber) ? { ...refused, row: lead.row } : lead)
      await tx.query('UPDATE ledger.lead_import_parts SET leads = $3 WHERE upload_id = $1 AND first_row = $2',
        [upload_id, first_row, JSON.stringify(left)])
    }
    return rows
  })
}

const names = (lead: WaitingLead, phoneNumber: string) => JSON.stringify(lead).includes(JSON.stringify(phoneNumber))
const refused: Omit<WaitingLead, 'row'> = { body: {}, refused: { phone_number: ['was erased before its turn came'] } }

/** The person's data is truncated or deleted, but still in the files of the event store. Idempotent. */
export async function noteUnscavenged (pool: Pool, requestId: string): Promise<void> {
  await pool.query('INSERT INTO ledger.unscavenged_erasures (request_id) VALUES ($1) ON CONFLICT DO NOTHING', [requestId])
}

/** @param scavengedAt erasures before it are known to be gone from the files, so their notes are deleted */
export async function unscavenged (pool: Pool, scavengedAt: Date | undefined) {
  await pool.query('DELETE FROM ledger.unscavenged_erasures WHERE erased_at < $1', [scavengedAt ?? null])
  const { rows: [found] } = await pool.query<{ count: string, oldest: Date | null }>(
    'SELECT count(*) AS count, min(erased_at) AS oldest FROM ledger.unscavenged_erasures')
  return { count: Number(found?.count ?? 0), oldest: found?.oldest ?? undefined }
}
