// API keys, found by their digest, and the tokens that were revoked: both decide who is let in.
import { apiKeyEventTypes, type ApiKeyEvent, type Scope } from '../../src/features/api-keys/events.js'
import { evolve, type ApiKey } from '../../src/features/api-keys/evolve.js'
import { believedId } from '../../src/domain/json.js'
import type { LogPosition, Projection, Rows } from '../folding/projection.js'
import { iso, table } from '../folding/table.js'

/** The row of a revoked key stays: otherwise an earlier event of the key would let somebody in again. */
interface ApiKeyRow {
  id: number
  user_id: string
  name: string
  hash: string
  prefix: string
  scopes: Scope[]
  expires_at: string | null
  created_at: string
  is_revoked: boolean
  revision: number
}

const apiKeys = table<ApiKeyRow>({
  name: 'api_keys',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    name: 'text',
    hash: 'text',
    prefix: 'text',
    scopes: 'json',
    expires_at: 'timestamptz',
    created_at: 'timestamptz',
    is_revoked: 'boolean',
    revision: 'bigint'
  },
  indexes: ['(hash)', '(user_id, id DESC) WHERE is_revoked IS NOT TRUE']
})

const revokedTokens = table<{ digest: string }>({ name: 'revoked_tokens', key: 'digest', columns: { digest: 'text' } })

export const keys: Projection = {
  name: 'keys',
  version: 1,
  eventTypes: [...apiKeyEventTypes, 'TokenRevoked'],
  tables: [apiKeys, revokedTokens],
  keys: ({ type, data }) =>
    type === 'ApiKeyCreated' || type === 'ApiKeyRevoked' ? [[apiKeys, data.api_key_id]] : [],
  project (event, at, rows) {
    switch (event.type) {
      case 'ApiKeyCreated':
      case 'ApiKeyRevoked': return projectKey(event, at, rows)
      case 'TokenRevoked': return rows.put(revokedTokens, { digest: event.data.jti_digest })
      default:
    }
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

function toKey ({ id, is_revoked, revision: _, expires_at, created_at, ...rest }: ApiKeyRow): ApiKey {
  const times = { expires_at: expires_at === null ? null : iso(expires_at), created_at: iso(created_at) }
  return { api_key_id: id, ...rest, ...times, ...(is_revoked && { isRevoked: true }) }
}
