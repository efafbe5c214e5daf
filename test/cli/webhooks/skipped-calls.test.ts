// A call that nobody can be told of by webhook is told to operators: listed, shown with what is wrong, counted, logged.
import t from 'tap'
import { noStream } from '../../../src/log/event-log.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { secrets } from '../../support/auth/secrets.js'
import { callCompleted, proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { valueOf } from '../../support/running-service.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'

const METRICS_TOKEN = 'of the scraper, long enough for a token'
const service = await testService(t, ['worker'], { METRICS_TOKEN })
const { urls, parts: { pool, streams } } = service
const env = {
  ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl
}
async function skipped (reason: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const text = await (await fetch(`${service.url}/metrics`, { headers })).text()
  return valueOf(text, `ringledger_webhook_calls_skipped_total{reason="${reason}"}`)
}
const before = await Promise.all(['invalid', 'unknown_assistant'].map(skipped))

const { data, ...unfit } = callCompleted('unfit')
const told = [{ ...unfit, data: { ...data, duration: 'long' } }, callCompleted('nobodys', { assistant_id: 7_777 })]
for (const each of told) await streams.append(each.stream, [proposed(each)], noStream)
await eventually(async () => (await pool.query('SELECT FROM ledger.webhook_deliveries')).rowCount === told.length)

t.test('a reason lists what was skipped for it', async (t) => {
  const { code, stdout } = await runWarm(['webhooks', 'list', '--reason', 'invalid', '--json'], env)
  t.equal(code, 0)
  t.strictSame(JSON.parse(stdout).map((each: { call_id: string }) => each.call_id), ['unfit'])
})

t.test('an invalid one is shown with what is wrong with it', async (t) => {
  t.match(await runWarm(['webhooks', 'show', deliveryId('unfit')], env), { code: 0, stdout: /problem .*duration/ })
  t.notMatch(await runWarm(['webhooks', 'show', deliveryId('nobodys')], env), { stdout: /problem/ })
})

t.test('each is counted by its reason, once it is recorded', async (t) => {
  const added = async () => await Promise.all(['invalid', 'unknown_assistant'].map(skipped))
  const wanted = before.map((count) => (count ?? NaN) + 1)
  t.ok(await eventually(async () => (await added()).join() === wanted.join()))
})
