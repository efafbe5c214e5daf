// Which clock signs.
import type { PoolClient } from 'pg'
import t from 'tap'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'

t.test('a webhook carries the time of Postgres, and a worker whose clock differs says so', async (t) => {
  const r = await deliveryRig(t)
  const hook = await receiver(t)
  const warned = () => r.log.lines.filter(({ message }) => message.includes('the clock of this worker'))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await settled(r, 'delivered')
  t.strictSame(warned(), [], 'they agree')
  await r.pool.query(`
    CREATE SCHEMA clock;
    CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS
      $$ SELECT pg_catalog.now() + interval '1 hour' $$;
    CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$`)
  const isAhead = async (client: PoolClient) => { await client.query('SET search_path = clock, pg_catalog, public') }
  Object.assign(r.pool.options, { onConnect: isAhead })
  for (const client of await Promise.all(Array.from({ length: r.pool.totalCount }, () => r.pool.connect()))) {
    await isAhead(client)
    client.release()
  }
  await r.tell(callCompleted('c-2'))
  await eventually(() => hook.received.length === 2)
  const [first, second] = hook.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  const seconds = (second ?? 0) - (first ?? 0)
  t.ok(seconds >= 3_600 && seconds < 3_700, `${seconds} s later`)
  t.equal(warned().length, 1)
})
