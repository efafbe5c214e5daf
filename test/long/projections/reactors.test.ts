// What reacts to events is no projection: not by its type, not in the process that replays, not on the network.
import { join } from 'node:path'
import t from 'tap'
import { projections } from '../../../projections/index.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { noStream } from '../../../src/log/event-log.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import {
  assistantCreated, callCompleted, campaign, leadCreated, proposed, type Told
} from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { loadedIn, recorder } from '../../support/loads/loaded.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, run } from '../../support/ringledger.js'
import { localWebhooks } from '../../support/running-service.js'
import { testService } from '../../support/service.js'
import { secrets } from '../../support/auth/secrets.js'

const hook = await receiver(t)
const { parts: { pool, streams }, urls } = await testService(t, ['api', 'projector'])
const calls = 20
const folder = dataDir(t)

/** Of a process on the same back ends, which writes down what it loads. */
function environment (name: string): Record<string, string> {
  return {
    ...secrets,
    ...localWebhooks,
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: urls.databaseUrl,
    EVENTSTORE_URL: urls.eventStoreUrl,
    PORT: '0',
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import ${recorder}`,
    RECORD_LOADS: join(folder, name)
  }
}

/** The modules that such a process loaded which have to do with sending. */
function sendersLoaded (name: string): { all: number, senders: string[] } {
  const loaded = loadedIn(join(folder, name))
  const isSender = /\/workers\/.*\.ts$|\/(bullmq|undici|ioredis|standardwebhooks)(\/|\.js$)/
  return { all: loaded.length, senders: loaded.filter((url) => isSender.test(url)) }
}

t.test('every projection is replayed beside webhooks that are due, and no webhook is sent', async (t) => {
  await dispatchOnly()
  const wanted = await ledgerState()
  for (const { name } of projections) {
    const { code, stderr } = await run(t, ['projections', 'replay', name], environment(`replay ${name}`))
    t.equal(code, 0, stderr)
    t.match(stderr, new RegExp(`Replayed ${name}`))
    const { all, senders } = sendersLoaded(`replay ${name}`)
    t.ok(all > 100, `${all} modules were loaded`)
    t.strictSame(senders, [], 'none of them sends')
  }
  t.equal(hook.connections(), 0, 'not even a connection')
  t.strictSame(await ledgerState(), wanted, 'no delivery moved')
  t.equal((await pool.query('SELECT FROM read_model.calls')).rowCount, calls, 'though all of it was replayed')
})

/** Fills the log, and runs the dispatcher alone: every call has a delivery that is due and is not made. */
async function dispatchOnly (): Promise<void> {
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const log: Told[] = [
    assistantCreated(500, webhook), campaign('CampaignCreated', 500, 'Spring'), leadCreated(500, 500)
  ]
  log.push(...Array.from({ length: calls }, (_, index) =>
    callCompleted(`c${index}`, { assistant_id: 500, lead_id: 500 })))
  for (const told of log) await streams.append(told.stream, [proposed(told)], noStream)
  const stopping = new AbortController()
  const reactor = dispatcher({ pool, firstDelayMs: 0, wake () {}, log: keepingLog() })
  const dispatching = runSubscription(reactor, {
    pool, streams, holder: 'test', signal: stopping.signal, log: keepingLog()
  })
  await eventually(async () => (await pool.query(`
    SELECT FROM ledger.webhook_due WHERE due_at < now()`)).rowCount === calls)
  stopping.abort()
  await dispatching
}

async function ledgerState (): Promise<unknown> {
  const { rows } = await pool.query(`
    SELECT (SELECT json_agg(d ORDER BY id) FROM ledger.webhook_deliveries d) AS deliveries,
           (SELECT json_agg(d ORDER BY delivery_id) FROM ledger.webhook_due d) AS due,
           (SELECT count(*) FROM ledger.webhook_attempts) AS attempts,
           (SELECT position FROM ledger.dispatcher_checkpoint) AS dispatched`)
  return rows
}
