// An operator restores Postgres or the log to an older state: the service gives out no id again, sends no old webhook,
// and says how to mend it. Beside a new Postgres it answers nothing by halves until its read models are filled.
import t, { type Test } from 'tap'
import { revokeNow, signToken } from '../../src/cli/token.js'
import { digestOf } from '../../src/http/credentials.js'
import { adoptLog } from '../../src/recovery/mend.js'
import { callReport, newLead } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { answers, callOf, receiver, type Receiver } from '../support/receivers/receiver.js'
import {
  created, deliveries, idOf, readsGoOn, restorable, type Restorable, type Running
} from '../support/restorable.js'
import { runWarm } from '../support/ringledger.js'
import { caller } from '../support/running-service.js'
import { configOf } from '../support/service.js'

const bothCommands = /behind the event log.*`ringledger ids reseed` and `ringledger webhooks resume`/

interface Restored {
  r: Restorable
  hook: Receiver
  /** It has a call that was delivered and one that waits for its next attempt. */
  assistant: number
  /** What was created, and called, after the backup. */
  newest: { assistant: number, lead: number }
}

/** A database from before its newest events; the webhook that waited is due. */
async function restoredBesideNewerLog (t: Test): Promise<Restored> {
  const r = await restorable(t)
  const hook = await receiver(t, (response, received, count) =>
    answers(callOf(received) === 'pending' ? 504 : 204)(response, received, count))
  const first = await r.start()
  const assistant = idOf(await eventually(async () => created(await first.createAssistant(hook.url))))
  for (const call of ['before', 'pending']) await first.completeCall(call, assistant)
  await eventually(() => hook.received.length === 2)
  await first.stop()
  await r.backUp()

  const second = await r.start()
  const newest = {
    assistant: idOf(await eventually(async () => created(await second.createAssistant(hook.url)))),
    lead: idOf(await second.createLead())
  }
  for (const call of ['after-1', 'after-2']) await second.completeCall(call, newest.assistant)
  await eventually(() => hook.received.length === 4)
  await second.stop()
  await r.restore()
  await r.withParts(async ({ pool }) => pool.query('UPDATE ledger.webhook_due SET due_at = now()'))
  return { r, hook, assistant, newest }
}

/** What an operator meets and does, in this order. */
const steps: Record<string, (t: Test, scene: Restored, restored: Running) => Promise<void>> = {
  'it says what to run, answers reads, and neither creates nor sends': async (t, { hook, newest }, restored) => {
    t.match(restored.logged.join(), bothCommands)
    await readsGoOn(t, restored, newest.assistant)
    t.strictSame([(await restored.createAssistant(hook.url)).status, (await restored.createLead()).status], [503, 503])
    t.match(await restored.ready(), { status: 200, body: { checks: { ledger: 'behind the log' } } }, 'it keeps its readers')
    t.equal(hook.received.length, 4)
  },

  'ids reseed makes it create again, under new ids': async (t, { r, hook, newest }, restored) => {
    t.match(await runWarm(['ids', 'check'], r.env), { code: 1, stderr: /behind: run `ringledger ids reseed`/ })
    const { code, stdout } = await runWarm(['ids', 'reseed', '--json'], r.env)
    t.equal(code, 0)
    t.match(JSON.parse(stdout), {
      ok: true, sequences: [{ name: 'assistant', in_log: newest.assistant }, { name: 'lead', in_log: newest.lead }]
    })
    t.ok(idOf(await restored.createAssistant(hook.url)) > newest.assistant)
    t.ok(idOf(await restored.createLead()) > newest.lead)
    t.match(await restored.ready(), { body: { checks: { ledger: 'behind the log' } } })
    t.equal(hook.received.length, 4)
  },

  'webhooks resume makes it send what comes from then on': async (t, { r, hook, assistant }, restored) => {
    t.match(await runWarm(['webhooks', 'resume'], r.env), { code: 0, stderr: /Webhooks go on.* 1 were cancelled/ })
    await restored.completeCall('later', assistant)
    await eventually(() => hook.received.length > 4)
    const calls = hook.received.map(callOf) // those before may come in any order
    t.same([calls.slice(0, -1).sort(), calls.at(-1)], [['after-1', 'after-2', 'before', 'pending'], 'later'])
    t.same(await deliveries(r), {
      before: ['delivered', null],
      pending: ['cancelled', 'restored'],
      'after-1': ['skipped', 'restored'],
      'after-2': ['skipped', 'restored'],
      later: ['delivered', null]
    }, 'each call has one row')
    const refreshed = await eventually(async () => { // what it answers holds for a second
      const answer = await restored.ready()
      return answer.body.checks?.ledger !== 'behind the log' && answer
    })
    t.match(refreshed, { status: 200, body: { checks: { ledger: 'ok' } } })
  }
}

t.test('a Postgres that is restored beside a newer log waits for its operator, and repeats nothing', async (t) => {
  const scene = await restoredBesideNewerLog(t)
  const restored = await scene.r.start()
  for (const [title, step] of Object.entries(steps)) await t.test(title, (t) => step(t, scene, restored))
  await restored.stop()

  const next = await scene.r.start()
  t.notMatch(next.logged.join(), /behind the event log/, 'and the next start knows of nothing')
  await t.test('a service refuses to start beside a log that is older than what it read of it, until that is adopted', (t) =>
    olderLog(t, scene, next))
  await t.test('beside a new database what depends on read models is a 503 until they are filled', (t) => newDatabase(t, scene))
})

async function olderLog (t: Test, { r, hook, assistant }: Restored, running: Running): Promise<void> {
  const before = hook.received.length
  await r.backUpLog()
  const lost = idOf(await eventually(async () => created(await running.createAssistant(hook.url))))
  await eventually(async () => (await running.completeCall('lost', lost)).status === 202)
  await eventually(() => hook.received.length === before + 1)
  await running.stop()
  await r.restoreLog()

  const message = /lacks marker \d.* older than this database, or another log.*Check EVENTSTORE_URL.*`ringledger events adopt`/
  for (const role of ['api', 'worker'] as const) await t.rejects(r.start([role]), { name: 'OtherLog', message })
  t.match(await r.withParts(({ pool, streams }) => adoptLog(pool, streams)), { problem: undefined })
  const adopted = await r.start()
  await readsGoOn(t, adopted, assistant)
  const next = idOf(await eventually(async () => created(await adopted.createAssistant(hook.url))))
  t.ok(next > lost, 'the ids of what was lost are not given out again')
  for (const id of [assistant, next]) await adopted.completeCall(`of-${id}`, id)
  await eventually(() => hook.received.length >= before + 3)
  t.same(hook.received.slice(before).map(callOf).sort(), ['lost', `of-${assistant}`, `of-${next}`].sort())
  await adopted.stop()
}

/** Every command whose answer depends on what a read model holds. */
function commands ({ url }: Running, assistant: number, lead: number, user: string, engine: string) {
  const call = caller(url)
  return [
    () => call('POST', '/user/lead', { token: user, body: newLead() }),
    () => call('PUT', `/user/assistant/${assistant}`, { token: user, body: { voice_id: 1 } }),
    () => call('POST', `/user/assistant/${assistant}/webhook-test`, { token: user }),
    () => call('POST', '/engine/calls/another/completed', { token: engine, body: callReport(assistant, { lead_id: lead }) })
  ]
}

async function newDatabase (t: Test, { r, assistant }: Restored): Promise<void> {
  const { jwt } = configOf({})
  const [user, ended, engine] = await Promise.all([
    signToken(jwt, { user: '1', ttl: '1h' }), signToken(jwt, { user: '1', ttl: '1h' }),
    signToken(jwt, { user: 'engine', role: 'engine', ttl: '1h' })
  ])
  const before = await r.start()
  const lead = idOf(await eventually(async () => {
    const answer = await before.createLead()
    return answer.status === 200 && answer
  }))
  const makeKey = async () =>
    (await caller(before.url)('POST', '/user/api-key', { token: user, body: { name: 'x', scopes: ['read'] } })).body.data
  const [kept, revoked] = [await makeKey(), await makeKey()]
  t.equal((await caller(before.url)('DELETE', `/user/api-key/${revoked.id}`, { token: user })).status, 200)
  const { jti }: { jti: string } = JSON.parse(Buffer.from(ended.split('.')[1] ?? '', 'base64url').toString())
  await r.withParts((parts) => revokeNow(parts, digestOf(jti)))
  await before.stop()

  await r.lose()
  const api = await r.start(['api'])
  t.match(await api.ready(), { status: 503, body: { checks: { readModels: 'failing' } } })
  const paths = [
    `/user/assistant/${assistant}`, `/user/assistant/${assistant}/history`, '/user/leads', `/user/lead/${lead}`, '/user/calls',
    '/user/campaigns', '/user/phone-numbers', '/user/blacklist', '/user/assistants/voices'
  ]
  for (const path of paths) {
    const { status, headers } = await api.get(path)
    t.match([status, headers.get('retry-after')], [503, /^[1-9]/], path)
  }
  for (const send of commands(api, assistant, lead, user, engine)) t.equal((await send()).status, 503, String(send))
  const me = async (token: string) => (await caller(api.url)('GET', '/user/me', { token })).status
  t.strictSame([await me(kept.key), await me(revoked.key)], [503, 503])
  t.strictSame([await me(user), await me(ended)], [200, 401], 'a token is looked up in the log meanwhile')

  const projector = await r.start(['projector'])
  await eventually(async () => (await api.ready()).body.checks?.readModels === 'ok')
  for (const path of paths) t.equal((await api.get(path)).status, 200, path)
  t.strictSame([await me(kept.key), await me(revoked.key), await me(user), await me(ended)], [200, 401, 200, 401])
  t.equal((await eventually(async () => (await projector.ready()).body)).checks.readModels, 'ok')
}
