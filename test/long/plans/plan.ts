// How Postgres goes about a question.
import { existsSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'

interface Question { name?: string, text: string, values: unknown[] }

/** The pool, with a look at each question before it is asked. */
function watched (pool: Pool, look: (question: Question) => Promise<void>): Pool {
  const value = async (question: string | Question, values: unknown[] = []) => {
    const asked = typeof question === 'string' ? { text: question, values } : question
    await look(asked)
    return await pool.query(asked.text, asked.values)
  }
  return Object.create(pool, { query: { value } })
}

/**
 * The nodes of the plan of what `read` asks, as `<type> on <relation>`.
 * Of what is prepared those of the plan that is kept for all values, too.
 */
export async function planOf (pool: Pool, read: (db: Pool) => Promise<unknown>): Promise<string[]> {
  const nodes: string[] = []
  await read(watched(pool, async ({ name, text, values }) => {
    collect(await explained(pool, 'FORMAT JSON', text, values), nodes)
    if (name !== undefined) collect(await explained(pool, 'GENERIC_PLAN, FORMAT JSON', text), nodes)
  }))
  return nodes
}

/** How many pages of tables and indexes Postgres reads for what `read` asks. */
export async function pagesRead (pool: Pool, read: (db: Pool) => Promise<unknown>): Promise<number> {
  let pages = 0
  await read(watched(pool, async ({ text, values }) => {
    const [{ Plan: plan }] = await explained(pool, 'ANALYZE, BUFFERS, FORMAT JSON', text, values) as [{ Plan: Record<string, number> }]
    pages += (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN)
  }))
  return pages
}

async function explained (pool: Pool, options: string, text: string, values?: unknown[]): Promise<unknown> {
  const { rows: [row] } = await pool.query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (${options}) ${text}`, values)
  return row?.['QUERY PLAN']
}

function collect (node: unknown, nodes: string[]): void {
  if (typeof node !== 'object' || node === null) return
  if ('Node Type' in node && 'Relation Name' in node) nodes.push(`${node['Node Type']} on ${node['Relation Name']}`)
  for (const inner of Object.values(node)) collect(inner, nodes)
}

/**
 * CPU of Postgres in milliseconds, of 200 reads after the first ones: other programs do not slow it down.
 * @param pool of one connection
 */
export async function spreadOf (pool: Pool, read: () => Promise<unknown>): Promise<{ median: number, p99: number }> {
  const { rows: [session] } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const file = `/proc/${session?.pid}/schedstat`
  const now = existsSync(file) ? () => Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6 : () => performance.now()
  const took: number[] = []
  while (took.length < 210) {
    const before = now()
    await read()
    took.push(now() - before)
  }
  const sorted = took.slice(10).toSorted((one, other) => one - other)
  return { median: Number(sorted[99]?.toFixed(1)), p99: Number(sorted[197]?.toFixed(1)) }
}

/**
 * `count` leads, a second apart: half of them user 1's, the others of 50 users; a third of user 1's have a contact. The
 * first tenth has a word of its own, and of two words each has one. Of `every` ids one is a lead's.
 */
export async function fillLeads (pool: Pool, count: number, every = 1): Promise<void> {
  await pool.query(`
    INSERT INTO read_leads_g1.leads
      (id, primary_id, place, user_id, campaign_id, phone_number, variables, words, called, status,
       stream, created_at, updated_at)
    SELECT i * $2, CASE WHEN i % 6 = 5 THEN (i - 1) * $2 END, CASE WHEN i % 6 = 5 THEN 1 ELSE 0 END, user_id, i % 20, phone_number,
      json_build_object('customer_name', 'Ada Example' || i % 1000, 'email', 'ada@example.com'),
      'ada example' || i % 1000 || ' example com ' || substr(phone_number, 2) || CASE WHEN i * 10 < $1 THEN ' former' ELSE '' END
        || CASE WHEN i % 4 < 2 THEN ' left' ELSE ' right' END,
      CASE WHEN i % 6 <> 5 THEN ${called('at')} ELSE '' END,
      (ARRAY['created', 'completed', 'scheduled'])[1 + i % 3],
      'lead-' || i % 20 || '-0123456789abcdef0123456789abcdef', at, at
    FROM (SELECT i, CASE WHEN i % 2 = 0 OR i % 6 = 5 THEN '1' ELSE (2 + i % 50)::text END AS user_id,
      '+1555' || lpad((i * 7919 % 10000000)::text, 7, '0') AS phone_number,
      timestamptz '2026-01-01' + i * interval '1 second' AS at FROM generate_series(1::bigint, $1) i) numbered`, [count, every])
  await pool.query('VACUUM ANALYZE read_leads_g1.leads')
}

const halfOf = (at: string) => `floor(extract(epoch FROM ${at}) / 2048)::bigint`
const called = (at: string) => `'d' || (${halfOf(at)} >> 5) || ' h' || ${halfOf(at)}`

/** `count` calls, a second apart, half of them user 1's, and one of each lead. */
export async function fillCalls (pool: Pool, count: number): Promise<void> {
  await pool.query(`
    INSERT INTO read_calls_g1.calls (id, user_id, assistant_id, lead_id, status, direction, phone_number, campaign_id,
      ended_at, updated_at, summary, report, position)
    SELECT 'call-' || i, CASE WHEN i % 2 = 0 THEN '1' ELSE (2 + i % 50)::text END, i % 30, CASE WHEN i % 6 <> 5 THEN i END,
      (ARRAY['completed', 'failed', 'busy'])[1 + i % 3], (ARRAY['outbound', 'inbound'])[1 + i % 2],
      '+1555' || lpad((i * 7919 % 10000000)::text, 7, '0'), nullif(i % 20, 0),
      timestamptz '2026-01-01' + i * interval '1 second', timestamptz '2026-01-01' + i * interval '1 second', json_build_object('call_id', 'call-' || i), '{}', i * 100
    FROM generate_series(1::bigint, $1) i`, [count])
  await pool.query('VACUUM ANALYZE read_calls_g1.calls')
}

/** `count` calls of 1,000 leads of the user busy, a second apart: in the first half they call whose word is left. */
export async function fillBusyUser (pool: Pool, count: number): Promise<void> {
  const at = "timestamptz '2026-01-01' + i * interval '1 second'"
  await pool.query(`
    INSERT INTO read_leads_g1.leads
      (id, place, user_id, campaign_id, phone_number, variables, words, called, status, stream, created_at, updated_at)
    SELECT 100000000 + i, 0, 'busy', 1, '+15550000000', '{}', 'ada example' || i || ' example com 15550000000' || word,
      (SELECT string_agg(DISTINCT 'd' || (half >> 5) || CASE WHEN half > last - 32 THEN ' h' || half ELSE ' e' || (half >> 3) END, ' ')
       FROM (SELECT half, max(half) OVER () AS last FROM generate_series(${halfOf('since')}, ${halfOf('till')}) half) halves),
      'created', 'lead-' || i, since, since
    FROM generate_series(0, 999) i CROSS JOIN LATERAL (
      SELECT timestamptz '2026-01-01' + i / 500 * half AS since, timestamptz '2026-01-01' + (i / 500 + 1) * half AS till,
        (ARRAY[' left', ' right'])[1 + i / 500] AS word FROM (SELECT $1 / 2 * interval '1 second' AS half) halves) spans`, [count])
  await pool.query(`
    INSERT INTO read_calls_g1.calls (id, user_id, assistant_id, lead_id, status, direction, ended_at, updated_at, summary, report, position)
    SELECT 'busy-' || i, 'busy', 1, 100000000 + i % 500 + i * 2 / ($1 + 1) * 500, 'completed', 'inbound', ${at}, ${at},
      json_build_object('call_id', 'busy-' || i), '{}', i * 100 + 1
    FROM generate_series(1::bigint, $1) i`, [count])
  await pool.query('VACUUM ANALYZE read_leads_g1.leads')
  await pool.query('VACUUM ANALYZE read_calls_g1.calls')
}

/** `count` campaigns, phone numbers and do-not-call entries each, a second apart, half of them user 1's. */
export async function fillOwn (pool: Pool, count: number): Promise<void> {
  const numbered = `
    FROM (SELECT i, CASE WHEN i % 2 = 0 THEN '1' ELSE (2 + i % 50)::text END AS user_id,
      '+1555' || lpad((i * 7919 % 10000000)::text, 7, '0') AS phone_number,
      timestamptz '2026-01-01' + i * interval '1 second' AS at FROM generate_series(1::bigint, $1) i) numbered`
  await pool.query(`
    INSERT INTO read_catalog_g1.campaigns (id, user_id, name, words, is_deleted, revision, created_at, updated_at)
    SELECT i, user_id, 'Spring ' || i, 'spring ' || i, false, 0, at, at ${numbered}`, [count])
  await pool.query(`
    INSERT INTO read_catalog_g1.phone_numbers (id, user_id, phone_number, is_released, revision, updated_at)
    SELECT i, user_id, phone_number, false, 0, at ${numbered}`, [count])
  await pool.query(`
    INSERT INTO read_leads_g1.blacklist
      (key, id, user_id, phone_number, stream, is_deleted, revision, created_at, updated_at)
    SELECT 'blacklist-' || i || ' ' || i, i, user_id, phone_number, 'blacklist-' || i, false, 0, at, at ${numbered}`, [count])
  await pool.query('VACUUM ANALYZE read_catalog_g1.campaigns, read_catalog_g1.phone_numbers, read_leads_g1.blacklist')
}

/** `count` deliveries, a second apart, half of them user 1's. */
export async function fillDeliveries (pool: Pool, count: number): Promise<void> {
  await pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, status,
      outcome, status_code, reason, body, created_at)
    SELECT gen_random_uuid(), 'call-' || i, 'call.completed', CASE WHEN i % 2 = 0 THEN '1' ELSE (2 + i % 50)::text END,
      i % 30, i, i,
      (ARRAY['delivered', 'exhausted', 'skipped'])[1 + i % 3], (ARRAY['delivered', 'rejected'])[1 + i % 3], (ARRAY[200, 500])[1 + i % 3],
      NULL, repeat('x', 500),
      timestamptz '2026-01-01' + i * interval '1 second'
    FROM generate_series(1::bigint, $1) i`, [count])
  await pool.query('VACUUM ANALYZE ledger.webhook_deliveries')
}
