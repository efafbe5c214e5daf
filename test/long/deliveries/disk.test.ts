// What a call takes on disk in the delivery log, and that its attempts give it back.
import t from 'tap'
import type { Pool } from 'pg'
import { text } from '../../../bench/support/speech.js'
import { random } from '../../../bench/support/random.js'
import { keepMonths } from '../../../workers/deliveries/retention.js'
import { addDeliveries, answer, deliveryOf, senderRig, url, type SenderRig } from '../../support/workers/sender-rig.js'
import { randomUUID } from 'node:crypto'

const batches = 200
/** Each of a user, with as many deliveries in a batch as it may send at a time. */
const assistants = Array.from({ length: 100 }, (_, nth) => nth + 1)
const each = 10
const calls = batches * assistants.length * each
/** Of a call without its body: its row, its attempt, and their entries in indexes. */
const mostBytes = 2_000

const chance = random(1)
const bodies = Array.from({ length: 100 }, () => JSON.stringify({ transcript: text(chance, chance.whole(500, 9_500)) }))

/** Calls whose webhooks are delivered at the first attempt, as a worker writes them. */
async function deliver (r: SenderRig): Promise<void> {
  await addDeliveries(r.pool, assistants.flatMap((id) => bodies.slice(0, each).map((_, nth) =>
    ({ ...deliveryOf(randomUUID(), id, String(id)), body: bodies[(id * each + nth) % bodies.length] ?? '' }))))
  const { attempts } = await r.claim(r.worker, assistants, { room: calls })
  if (attempts.length !== assistants.length * each) throw new Error(`${attempts.length} were claimed`)
  await r.end(attempts, answer(200), 40)
}

async function bytesOf (pool: Pool) {
  const { rows: [size] } = await pool.query<{ rows: number, bodies: number, due: number, attempts: number }>(`
    SELECT (pg_table_size(c.oid) - pg_total_relation_size(c.reltoastrelid) + pg_indexes_size(c.oid))::float8 AS rows,
           pg_total_relation_size(c.reltoastrelid)::float8 AS bodies,
           pg_total_relation_size('ledger.webhook_due')::float8 AS due,
           (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits
            WHERE inhparent = 'ledger.webhook_attempts'::regclass)::float8 AS attempts
    FROM pg_class c WHERE c.oid = 'ledger.webhook_deliveries'::regclass`)
  return size ?? { rows: 0, bodies: 0, due: 0, attempts: 0 }
}

t.test(`${calls} delivered calls take under ${mostBytes} bytes each beside their bodies`, async (t) => {
  const r = await senderRig(t)
  const { pool } = r
  await keepMonths(pool, 90)
  await r.change(...assistants.map((id) => ({ assistant_id: id, user_id: String(id), url })))
  for (let done = 0; done < batches; done++) await deliver(r)
  await pool.query('VACUUM ledger.webhook_deliveries, ledger.webhook_due')
  const { rows, bodies, due, attempts } = await bytesOf(pool)
  const perCall = (size: number) => Math.round(size / calls)
  t.comment(`bytes a call: row ${perCall(rows)}, due ${perCall(due)}, attempt ${perCall(attempts)}, body ${perCall(bodies)}`)
  t.ok(perCall(rows + due + attempts) < mostBytes, `${perCall(rows + due + attempts)} bytes`)
  t.ok((await keepMonths(pool, -40)).length > 0)
  t.ok((await bytesOf(pool)).attempts < 500_000, 'months that are dropped are given back at once')
})
