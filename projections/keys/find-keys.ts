// What is asked about API keys and revoked tokens.
import type { Pool } from 'pg'
import type { ApiKey } from '../../src/features/api-keys/evolve.js'
import type { ApiKeyItem } from '../../src/features/api-keys/summary.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import { iso } from '../folding/table.js'

/** A key as those need it who let in with it. */
export type KnownKey = Pick<ApiKey, 'api_key_id' | 'user_id' | 'name' | 'hash' | 'scopes' | 'expires_at'> &
  { is_revoked: boolean }

type KnownRow = Omit<KnownKey, 'expires_at'> & { expires_at: Date | null }

/**
 * The keys with these digests, revoked ones as well. A revocation counts as soon as it was announced, also before it is
 * projected.
 */
export async function findKeysByHash (db: Pool, hashes: readonly string[], withinMs: number): Promise<KnownKey[]> {
  const query = {
    text: `SELECT id AS api_key_id, user_id, name, hash, scopes, expires_at,
                  is_revoked OR EXISTS (SELECT FROM ledger.revocations WHERE what = 'key ' || id) AS is_revoked
           FROM read_model.api_keys WHERE hash = ANY($1) ORDER BY id DESC`,
    values: [hashes],
    query_timeout: withinMs
  }
  const { rows } = await db.query<KnownRow>(query)
  return rows.map((row) =>
    ({ ...row, api_key_id: Number(row.api_key_id), expires_at: row.expires_at && row.expires_at.toISOString() }))
}

/** Digests of every token that was revoked: operators revoke few. */
export async function findRevokedTokens (db: Pool, withinMs: number): Promise<string[]> {
  const query = {
    text: `SELECT digest FROM read_model.revoked_tokens
           UNION SELECT substr(what, 7) FROM ledger.revocations WHERE what LIKE 'token %'`,
    values: [],
    query_timeout: withinMs
  }
  return (await db.query<{ digest: string }>(query)).rows.map(({ digest }) => digest)
}

/** A page of the user's keys, newest first, without those that were revoked. */
export async function findApiKeys (db: Pool, userId: string, page: Page): Promise<Paged<ApiKeyItem>> {
  const { items, ...place } = await readPage<ApiKeyItem>(db, {
    name: 'api-keys',
    columns: 'id, name, prefix, scopes, expires_at, created_at',
    from: 'read_model.api_keys',
    key: 'id',
    own: [['user_id = ?', userId], ['is_revoked IS NOT TRUE']],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: `json_build_object(
      'id', id, 'name', name, 'prefix', prefix, 'scopes', scopes, 'expires_at', expires_at, 'created_at', created_at,
      'last_used_at', (SELECT last_used_at FROM ledger.api_key_uses WHERE api_key_id = page.id))`
  }, page)
  return { items: items.map(withTimes), ...place }
}

function withTimes (item: ApiKeyItem): ApiKeyItem {
  const { expires_at, created_at, last_used_at } = item
  const orNull = (time: string | null) => time === null ? null : iso(time)
  return { ...item, expires_at: orNull(expires_at), created_at: iso(created_at), last_used_at: orNull(last_used_at) }
}
