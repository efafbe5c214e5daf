// An event store that answers reads and takes no writes: readiness notices, and notices when it is over. One that loses
// events of ours is told at a start.
import pino from 'pino'
import t from 'tap'
import { clientUrl } from '../../../src/log/client-url.js'
import { RevisionConflict } from '../../../src/log/errors.js'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { startRoles } from '../../../src/services/roles.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector'])
const { call, client, config, parts: { pool, streams }, urls } = service

const ready = async () => await call('GET', '/health/ready')

t.test('probes write nothing while writes are taken', async (t) => {
  const before = await streams.head()
  await eventually(async () => (await ready()).status === 200)
  t.equal(await streams.head(), before)
})

t.test('once an append has failed the process is not ready until one is written', async (t) => {
  const { rows: [log] } = await pool.query<{ schema: string }>(
    "SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'events'")
  const events = `${log?.schema}.events`
  await pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON ${events} FOR EACH ROW EXECUTE FUNCTION refuse()`)
  t.ok([500, 503].includes((await call('POST', '/user/assistant', newAssistant)).status))
  await eventually(async () => (await ready()).status === 503)
  t.equal((await call('GET', '/user/assistants')).status, 200, 'reads go on')
  await pool.query(`DROP TRIGGER refuse ON ${events}`)
  await eventually(async () => (await ready()).status === 200)
  t.equal((await streams.read('ringledger-write-probe')).length, 1, 'one event proved it')
  t.equal((await call('POST', '/user/assistant', newAssistant)).status, 201)
})

t.test('a conflict is one, whatever the URL says of failed appends', async (t) => {
  const url = `${urls.eventStoreUrl}&throwOnAppendFailure=false`
  t.notMatch(clientUrl(url), 'throwOnAppendFailure=false')
  t.match(clientUrl('kurrentdb://a:1,b:2'), /^esdb:\/\/a:1,b:2\?.*throwOnAppendFailure=true$/)
  const event = () => [{ id: crypto.randomUUID(), type: 'Happened', data: {}, metadata: {} }]
  for (const each of [url, clientUrl(url)]) {
    const appending = new EventLog(connectionTo(t, each))
    const stream = `test-${crypto.randomUUID()}`
    await appending.append(stream, event(), noStream)
    await t.rejects(appending.append(stream, event(), noStream), RevisionConflict)
  }
})

t.test('a start says which stream of ours loses events, and what mends it', async (t) => {
  await client.setStreamMetadata('ringledger-marker', { maxCount: 1 })
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => { errors.push(JSON.parse(line).msg) } })
  const { stop } = await startRoles(['projector'], config, urls, log)
  await stop()
  t.strictSame(errors, [
    'The metadata of the stream ringledger-marker has $maxCount, and a scavenge takes events away for good: ' +
    'write metadata without $maxCount to $$ringledger-marker.'
  ])
})
