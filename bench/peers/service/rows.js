// The read model of the peers: one row a lead or an assistant, with the indexes that lists of them want.
import pg from 'pg'

const tables = `
  CREATE SCHEMA IF NOT EXISTS peer;
  CREATE TABLE IF NOT EXISTS peer.campaigns (id bigint PRIMARY KEY, user_id text NOT NULL, name text NOT NULL);
  CREATE SEQUENCE IF NOT EXISTS peer.ids INCREMENT 200 START 1000000001;
  CREATE TABLE IF NOT EXISTS peer.leads (
    id bigint PRIMARY KEY, user_id text NOT NULL, campaign_id bigint NOT NULL, phone_number text NOT NULL,
    variables jsonb NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL, version bigint NOT NULL);
  CREATE INDEX IF NOT EXISTS leads_by_time ON peer.leads (user_id, created_at DESC, id DESC);
  CREATE INDEX IF NOT EXISTS leads_by_campaign ON peer.leads (user_id, campaign_id, created_at DESC, id DESC);
  CREATE INDEX IF NOT EXISTS leads_by_number ON peer.leads (user_id, phone_number);
  CREATE TABLE IF NOT EXISTS peer.assistants (
    id bigint PRIMARY KEY, user_id text NOT NULL, settings jsonb NOT NULL, created_at timestamptz NOT NULL, version bigint NOT NULL);
  CREATE INDEX IF NOT EXISTS assistants_by_time ON peer.assistants (user_id, created_at DESC, id DESC);`

export const openPool = () => new pg.Pool({ connectionString: process.env.DATABASE_URL })

/** With the campaigns of the made-up log, which are to be there when it has been projected. */
export async function createTables (pool) {
  await pool.query(tables)
  await pool.query(`
    INSERT INTO peer.campaigns SELECT id, user_id, name FROM read_model.campaigns ON CONFLICT DO NOTHING`)
}

export async function campaignName (pool, user, id) {
  const { rows: [found] } = await pool.query({
    name: 'campaign', text: 'SELECT name FROM peer.campaigns WHERE id = $1 AND user_id = $2', values: [id, user]
  })
  return found?.name
}

/** Ids in blocks, as Ringledger takes them. */
export function openIds (pool) {
  const left = []
  let filling
  const fill = async () => {
    const { rows: [{ first }] } = await pool.query("SELECT nextval('peer.ids')::float8 AS first")
    for (let id = first; id < first + 200; id++) left.push(id)
    filling = undefined
  }
  return async () => {
    while (left.length === 0) await (filling ??= fill())
    return left.shift()
  }
}

/** The statement that an event becomes. @param version of its stream */
export function statementOf ({ type, data }, version) {
  switch (type) {
    case 'PeerLeadCreated': {
      const { lead_id, user_id, campaign_id, phone_number, variables, created_at } = data
      return {
        name: 'lead',
        text: `INSERT INTO peer.leads (id, user_id, campaign_id, phone_number, variables, status, created_at, version)
          VALUES ($1, $2, $3, $4, $5, 'created', $6, $7) ON CONFLICT (id) DO NOTHING`,
        values: [lead_id, user_id, campaign_id, phone_number, JSON.stringify(variables), created_at, version]
      }
    }
    case 'PeerAssistantCreated': return {
      name: 'assistant',
      text: `INSERT INTO peer.assistants (id, user_id, settings, created_at, version)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
      values: [data.assistant_id, data.user_id, JSON.stringify(data.settings), data.created_at, version]
    }
    default: return {
      name: 'changes',
      text: 'UPDATE peer.assistants SET settings = settings || $2, version = $3 WHERE id = $1 AND version < $3',
      values: [data.assistant_id, JSON.stringify(data.changes), version]
    }
  }
}

const pollMs = 5

/** Until the row has come to the version, as nothing tells when it has. */
export async function untilVisible (pool, table, id, version) {
  const query = { name: `visible-${table}`, text: `SELECT version FROM peer.${table} WHERE id = $1`, values: [id] }
  for (;;) {
    const { rows: [row] } = await pool.query(query)
    if (row && BigInt(row.version) >= version) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
