// The dispatcher writes markers while it works, and nothing is sent beside a database that wrote a later one.
import t, { type Test } from 'tap'
import { writeMarker } from '../../../src/recovery/markers.js'
import { decode, markerStream } from '../../../src/domain/events.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { resumeWebhooks } from '../../../workers/operate/resume.js'
import { startWorkers } from '../../../workers/start.js'
import { assistantCreated, assistantTo, callCompleted } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { receiver } from '../../support/receivers/receiver.js'
import { keptGuard, workerSite } from '../../support/workers/worker-site.js'

/** Workers on a database and a log of their own. */
async function working (t: Test, markEveryMs: number) {
  const { deps, tell } = await workerSite(t, { markEveryMs })
  const log = keepingLog()
  const start = async () => {
    const workers = await startWorkers({ ...deps, log, logGuard: keptGuard(t, { ...deps, log, behindEveryMs: 50 }) })
    t.teardown(() => workers.stop())
    return workers
  }
  return { ...deps, log, start, tell, markers: () => deps.streams.read(markerStream) }
}

t.test('there is a marker at the start, some time after events, and at the end; none without events', async (t) => {
  const { start, tell, markers } = await working(t, 200)
  const first = await start()
  await eventually(async () => (await markers()).length === 1)
  await tell(assistantCreated(1))
  await eventually(async () => (await markers()).length === 2)
  await first.stop()
  t.equal((await markers()).length, 2, 'nothing came since')
  const second = await start()
  await tell(callCompleted('c-1'))
  await eventually(async () => (await markers()).length === 3)
  await tell(callCompleted('c-2'))
  const { position } = await tell(callCompleted('c-3'))
  await eventually(async () => checkpointOf((await markers()).at(-1)) >= position)
  await second.stop()
})

t.test('workers stop sending when another database writes a marker, until an operator resumes them', async (t) => {
  const { start, tell, streams, log, pool } = await working(t, 100)
  const hook = await receiver(t)
  await start()
  await tell(assistantTo(hook.url))
  await tell(callCompleted('c-1'))
  await eventually(() => hook.received.length === 1)
  const { pool: other } = await scratchLedger(t)
  await other.query(
    'INSERT INTO ledger.markers (id, calls_known, ids_passed) VALUES ($1, true, true)',
    [(await streams.last(markerStream))?.id]
  )
  await writeMarker({ pool: other, streams, always: true })
  await tell(assistantCreated(2))
  await eventually(() => log.lines.some(({ message }) => /^This database is behind the event log/.test(message)))
  await tell(callCompleted('c-2'))
  await eventually(() => log.lines.some(({ details }) =>
    'err' in details && details.err instanceof Error && details.err.name === 'BehindLog'))
  t.equal((await pool.query("SELECT FROM ledger.webhook_deliveries WHERE call_id = 'c-2'")).rowCount, 0)
  await pool.query(`
    WITH delivery AS (
      INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, status, body)
      VALUES (gen_random_uuid(), 'pending', 'call.completed', '1', 1, 'scheduled', '{}') RETURNING *)
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at)
    SELECT id, 'schedule', assistant_id, user_id, now() + interval '1 hour' FROM delivery`)
  t.match(await resumeWebhooks(pool, streams), { cancelled: 1 })
  await eventually(() => hook.received.length === 2)
  await eventually(async () => (await pool.query(`
    SELECT FROM ledger.webhook_deliveries WHERE status = 'delivered'`)).rowCount === 2)
})

function checkpointOf (marker: StoredEvent | undefined): bigint {
  const event = marker && decode(marker)
  return event?.type === 'DispatcherCheckpointed' ? BigInt(event.data.checkpoint) : -1n
}
