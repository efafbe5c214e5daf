// What a call takes on disk in the delivery log, and that its attempts give it back.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Pool } from 'pg'
import { text } from '../../../bench/support/speech.js'
import { random } from '../../../bench/support/random.js'
import { dropMonths } from '../../../workers/deliveries/attempts/months.js'
import { finishAttempts } from '../../../workers/deliveries/attempts/finish.js'
import { startAttempts } from '../../../workers/deliveries/attempts/start.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

const calls = 1_000_000
const batch = 1_000
/** Of a call without its body: its row, its attempt, and their entries in nine indexes. */
const mostBytes = 2_500

const chance = random(1)
const bodies = Array.from({ length: 100 }, () => JSON.stringify({ transcript: text(chance, chance.whole(500, 9_500)) }))

/** Rows of calls whose webhooks are delivered at the first attempt, as a worker writes them. */
async function deliver (pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(`
    INSERT INTO ledger.webhook_deliveries
      (id, call_id, type, user_id, assistant_id, endpoint_id, body, status, next_attempt_at, queued_at, job_number)
    SELECT gen_random_uuid(), gen_random_uuid(), 'call.completed', '1', 1, 1, ($1::text[])[1 + n % 100], 'scheduled',
           now(), now(), 1
    FROM generate_series(1, $2) n RETURNING id`, [bodies, batch])
  const starts = rows.map(({ id }) => ({ job: { deliveryId: id, n: 1, jobNumber: 1 }, token: randomUUID() }))
  await startAttempts(pool, starts)
  await finishAttempts(pool, starts.map(({ job, token }) => ({
    attempt: { ...job, token, endpointId: '1' },
    finish: { outcome: 'delivered', statusCode: 200, durationMs: 40, error: null, excerpt: 'ok', truncated: false },
    verdict: { status: 'delivered' }
  })))
}

async function bytesOf (pool: Pool) {
  const { rows: [size] } = await pool.query<{ rows: number, bodies: number, attempts: number }>(`
    SELECT (pg_table_size(c.oid) - pg_total_relation_size(c.reltoastrelid) + pg_indexes_size(c.oid))::float8 AS rows,
           pg_total_relation_size(c.reltoastrelid)::float8 AS bodies,
           (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits
            WHERE inhparent = 'ledger.webhook_attempts'::regclass)::float8 AS attempts
    FROM pg_class c WHERE c.oid = 'ledger.webhook_deliveries'::regclass`)
  return size ?? { rows: 0, bodies: 0, attempts: 0 }
}

t.test(`${calls} delivered calls take under ${mostBytes} bytes each beside their bodies`, async (t) => {
  const { pool } = await scratchLedger(t)
  await pool.query(
    "INSERT INTO ledger.webhook_endpoints (user_id, url, url_digest) VALUES ('1', 'https://a.example/', 'a')"
  )
  for (let done = 0; done < calls; done += batch) await deliver(pool)
  await pool.query('VACUUM ledger.webhook_deliveries')
  const bytes = await bytesOf(pool)
  const perCall = (size: number) => Math.round(size / calls)
  t.comment(`bytes a call: row ${perCall(bytes.rows)}, attempt ${perCall(bytes.attempts)}, body ${perCall(bytes.bodies)}`)
  t.ok(perCall(bytes.rows + bytes.attempts) < mostBytes, `${perCall(bytes.rows + bytes.attempts)} bytes`)
  t.ok((await dropMonths(pool, -40)).length > 0)
  t.ok((await bytesOf(pool)).attempts < 200_000, 'months that are dropped are given back at once')
})
