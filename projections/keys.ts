// API keys, found by their digest, and revoked tokens. Apart from the fold: revocations that the rows do not have yet,
// and when a key was last used.
import type { Pool } from 'pg'
import { isOf } from '../src/domain/events.js'
import { believedId } from '../src/domain/json.js'
import { apiKeyEventTypes, type ApiKeyEvent, type Scope } from '../src/features/api-keys/events.js'
import { evolve, type ApiKey, type ApiKeyItem } from '../src/features/api-keys/model.js'
import { readPage, type Page, type Paged } from '../src/postgres/page.js'
import type { LogPosition, Projection, Rows } from './engine/projection.js'
import { iso, orNull, type RowOf, table, typed } from './engine/table.js'

/** A revoked key keeps its row: otherwise an earlier event of the key would make it valid again. */
const apiKeys = table({
  name: 'api_keys',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    name: 'text',
    hash: 'text',
    prefix: 'text',
    scopes: typed<Scope[]>('json'),
    expires_at: orNull('timestamptz'),
    created_at: 'timestamptz',
    is_revoked: 'boolean',
    revision: 'bigint'
  },
  indexes: ['(hash)', '(user_id, id DESC) WHERE is_revoked IS NOT TRUE']
})

const revokedTokens = table({ name: 'revoked_tokens', key: 'digest', columns: { digest: 'text' } })

export const keys: Projection = {
  name: 'keys',
  version: 1,
  eventTypes: [...apiKeyEventTypes, 'TokenRevoked'],
  tables: [apiKeys, revokedTokens],
  keys: (event) => isOf<ApiKeyEvent>(apiKeyEventTypes, event) ? [[apiKeys, event.data.api_key_id]] : [],
  project (event, at, rows) {
    if (isOf<ApiKeyEvent>(apiKeyEventTypes, event)) projectKey(event, at, rows)
    else if (event.type === 'TokenRevoked') rows.put(revokedTokens, { digest: event.data.jti_digest })
  },
  idsSeen: (event) => event.type === 'ApiKeyCreated'
    ? { sequence: 'ledger.api_key_ids', id: believedId(event.data.api_key_id) }
    : undefined
}

function projectKey (event: ApiKeyEvent, { revision }: LogPosition, rows: Rows): void {
  const row = rows.get(apiKeys, event.data.api_key_id)
  if (row && revision <= BigInt(row.revision)) return
  const key = evolve(row && toKey(row), event)
  if (!key) return
  const { api_key_id: id, isRevoked: is_revoked = false, ...rest } = key
  rows.put(apiKeys, { id, ...rest, is_revoked, revision: Number(revision) })
}

function toKey ({ id, is_revoked, revision: _, expires_at, created_at, ...rest }: RowOf<typeof apiKeys>): ApiKey {
  const times = { expires_at: expires_at === null ? null : iso(expires_at), created_at: iso(created_at) }
  return { api_key_id: id, ...rest, ...times, ...(is_revoked && { isRevoked: true }) }
}

/** What authentication needs of a key. */
export type KnownKey = Pick<ApiKey, 'api_key_id' | 'user_id' | 'name' | 'hash' | 'scopes' | 'expires_at'> &
  { is_revoked: boolean }

type KnownRow = Omit<KnownKey, 'expires_at'> & { expires_at: Date | null }

/** Finds revoked keys too. A revocation counts as soon as it is noted, even before it is projected. */
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

/** All digests at once, because operators revoke few tokens. */
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

type Revoked = { key: number } | { token: string }

/** Makes every process refuse a key or token before the read model has the event. Safe to repeat. */
export async function noteRevoked (pool: Pool, revoked: Revoked): Promise<void> {
  const what = 'key' in revoked ? `key ${revoked.key}` : `token ${revoked.token}`
  await pool.query('INSERT INTO ledger.revocations (what) VALUES ($1) ON CONFLICT DO NOTHING', [what])
}

/** After a day the read model has them. @returns how many were removed */
export async function forgetRevoked (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "DELETE FROM ledger.revocations WHERE revoked_at < now() - interval '1 day'")
  return rowCount ?? 0
}

/** Uses within this time are written in one batch. */
const writeAfterMs = 1_000
/** Keys after which the cache is cleared; a key may then be written twice in a minute. */
const remembered = 20_000
const minuteMs = 60_000

/** Records when each key was last used, to the minute: each process writes once per key and minute, not per request. */
export class KeyUses {
  /** The minute that was noted for each key. */
  readonly #noted = new Map<number, number>()
  #unwritten = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined

  constructor (private readonly pool: Pool, private readonly onError: (error: unknown) => void) {}

  used (keyId: number, now = Date.now()): void {
    const minute = Math.floor(now / minuteMs)
    if (this.#noted.get(keyId) === minute) return
    if (this.#noted.size >= remembered) this.#noted.clear()
    this.#noted.set(keyId, minute)
    this.#unwritten.set(keyId, minute)
    this.#timer ??= setTimeout(() => void this.#write(), writeAfterMs).unref()
  }

  /** Writes the last ones. */
  async close (): Promise<void> {
    clearTimeout(this.#timer)
    await this.#write()
  }

  /** If the write fails, these uses are lost; the next use of each key is written again. */
  async #write (): Promise<void> {
    this.#timer = undefined
    const uses = [...this.#unwritten]
    if (uses.length === 0) return
    this.#unwritten = new Map()
    try {
      await this.pool.query(`
        INSERT INTO ledger.api_key_uses AS known (api_key_id, last_used_at)
        SELECT used.id, to_timestamp(used.minute * 60) FROM unnest($1::bigint[], $2::bigint[]) AS used (id, minute)
        ORDER BY used.id
        ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = excluded.last_used_at
        WHERE known.last_used_at < excluded.last_used_at`,
      [uses.map(([id]) => id), uses.map(([, minute]) => minute)])
    } catch (error) {
      for (const [id] of uses) this.#noted.delete(id)
      this.onError(error)
    }
  }
}
