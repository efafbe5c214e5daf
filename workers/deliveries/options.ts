// Options of an assistant's webhook besides its URL. Headers are encrypted and bound to their user.
import type { Pool, PoolClient } from 'pg'
import {
  shownHeaders, type OwnHeaders, type WebhookOptions, type WebhookOptionsBody
} from '../../src/features/webhooks/options.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'

interface OptionsRow {
  user_id: string
  max_per_second: number | null
  headers: SealedRow | null
}

const shown = `user_id, max_per_second, CASE WHEN headers IS NOT NULL
  THEN json_build_object('key_id', headers_key_id, 'sealed', encode(headers, 'base64')) END AS headers`

/** @throws UnknownSecretKey */
export const openHeaders = (keys: SecretKeys, userId: string, row: SealedRow | null): OwnHeaders =>
  row ? JSON.parse(unseal(keys, userId, row)) as OwnHeaders : {} // as it was sealed below

const toOptions = (keys: SecretKeys, { user_id, max_per_second, headers }: OptionsRow): WebhookOptions =>
  ({ headers: shownHeaders(openHeaders(keys, user_id, headers)), max_per_second })

/** Nothing if no webhook of that assistant is known. Only operators leave the user out. */
export async function findOptions (
  db: Pool | PoolClient, keys: SecretKeys, assistantId: number, userId?: string, lock: '' | 'FOR UPDATE' = ''
): Promise<WebhookOptions | undefined> {
  const { rows: [row] } = await db.query<OptionsRow>(
    `SELECT ${shown} FROM ledger.webhooks WHERE assistant_id = $1 AND ($2::text IS NULL OR user_id = $2) ${lock}`,
    [assistantId, userId ?? null])
  return row && toOptions(keys, row)
}

/** Changes only given options. @returns nothing if no webhook of that assistant is known */
export async function changeOptions (
  tx: PoolClient, keys: SecretKeys, whose: { assistantId: number, userId: string }, given: WebhookOptionsBody
): Promise<WebhookOptions | undefined> {
  const { assistantId, userId } = whose
  const { headers, max_per_second: most } = given
  const sealed = headers && Object.keys(headers).length > 0 ? seal(keys, userId, JSON.stringify(headers)) : undefined
  const { rows: [row] } = await tx.query<OptionsRow>(`
    UPDATE ledger.webhooks
    SET headers_key_id = CASE WHEN $3 THEN $4 ELSE headers_key_id END,
        headers = CASE WHEN $3 THEN decode($5, 'base64') ELSE headers END,
        max_per_second = CASE WHEN $6 THEN $7 ELSE max_per_second END
    WHERE assistant_id = $1 AND user_id = $2 RETURNING ${shown}`,
  [
    assistantId, userId, headers !== undefined, sealed?.key_id ?? null, sealed?.sealed ?? null,
    most !== undefined, most ?? null
  ])
  return row && toOptions(keys, row)
}
