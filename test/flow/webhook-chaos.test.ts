// Calls are reported while every role and every back end is killed with kill -9, again and again: no webhook is lost or made up.
import { createServer } from 'node:net'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { Webhook } from 'standardwebhooks'
import { deliveryId } from '../../workers/dispatch.js'
import { newAssistant } from '../support/bodies.js'
import { assistantCreated } from '../support/call-events.js'
import { callLoad } from '../support/call-load.js'
import { chaos, type Chaos } from '../support/chaos.js'
import { eventually } from '../support/eventually.js'
import { behaviours } from '../support/hostile-answers.js'
import { killableStack, type KillableStack } from '../support/killable-stack.js'
import { eventsAfter } from '../support/log.js'
import { answers, receiver, type Received } from '../support/receiver.js'
import { noRedis, scratchRedis, type ScratchRedis } from '../support/redis.js'
import { run } from '../support/ringledger.js'
import { caller, secrets, token, type Request } from '../support/running-service.js'

t.jobs = 2
const usualRounds = 9
const [onPostgres, onRedis] = [chaos(t, 'webhooks on Postgres', usualRounds), chaos(t, 'webhooks on Redis', usualRounds)]
const title = ({ rounds, seed }: Chaos, queue: string) => `the queue in ${queue}: every call is accounted for after ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`
t.test(title(onPostgres, 'Postgres'), { timeout: onPostgres.timeout }, (t) => webhooksSurvive(t, onPostgres))
t.test(title(onRedis, 'Redis'), { timeout: onRedis.timeout, skip: noRedis() }, async (t) => webhooksSurvive(t, onRedis, await scratchRedis(t)))

const settings = {
  WEBHOOK_SCHEDULE: '0s,300ms,1s,3s,10s,10s,10s,10s',
  WEBHOOK_TIMEOUT_MS: '3000',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' // so that another address of this machine is a blocked one
}
const blockedAssistant = 900_001
/** A busy machine may make an attempt time out, and the next one is a minute later. */
const quietWithinMs = 180_000

async function webhooksSurvive (t: Test, { rounds, seed, pick, instant, roundIsOver }: Chaos, redis?: ScratchRedis): Promise<void> {
  const blocked = await receiver(t, answers(200), '127.0.0.2')
  const kinds = behaviours(blocked.url)
  const hook = await receiver(t, (response, received, count) => kinds[kindOf(received)]?.answer(response, received, count))
  const deadPort = await freePort()
  const stack = await killableStack(t, settings, redis)
  const { pool, client, api, roles } = stack
  const call = async (method: string, path: string, user: string, request: Request = {}) =>
    await caller(api.url())(method, path, { token: await token(secrets.JWT_SECRET, user), ...request })
  const taken: string[] = []
  /** Waits for `condition`, and says where everything stands when it does not come true. */
  const until = async (what: string, condition: () => Promise<boolean> | boolean, withinMs: number) => {
    await eventually(condition, withinMs).catch(async (error: Error) => {
      throw new Error(`${what}: ${error.message}; after ${taken.join(', ') || 'nothing'}\n${await whereItStands(stack, assistants)}`)
    })
  }

  const assistants = new Map<number, string>([[blockedAssistant, 'blocked']])
  const [others, blockedUrl] = [{ dead: `http://127.0.0.1:${deadPort}/dead`, 'of-another': `${hook.url}/healthy` }, `${blocked.url}/direct`]
  for (const [kind, webhook_url] of Object.entries({ ...others, ...Object.fromEntries(Object.keys(kinds).map((kind) => [kind, `${hook.url}/${kind}`])) })) {
    const { body } = await call('POST', '/user/assistant', userOf(kind), { body: newAssistant({ is_webhook_active: true, webhook_url, assistant_name: kind }) })
    assistants.set(body.data?.id ?? 0, kind)
  }
  const { data } = assistantCreated(blockedAssistant, { is_webhook_active: true, webhook_url: blockedUrl }, '2')
  await client.appendToStream(`assistant-${blockedAssistant}`, jsonEvent({ type: 'AssistantCreated', data: { ...data } }), { expectedRevision: NO_STREAM })

  const load = callLoad({ seed, client, apiUrl: api.url, assistants: [...assistants].flatMap(([id, kind]) => Array<number>(delivers(kind) ? 3 : 1).fill(id)) })
  const { byHttp, byEvent } = load.acknowledged
  let left: string[] = []
  for (let round = 0; round < rounds; round++) {
    const [http, event, received] = [byHttp.length, byEvent.length, hook.received.length]
    await until('no call was acknowledged or delivered', () => byHttp.length > http + 2 && byEvent.length > event + 2 && hook.received.length > received, 90_000)
    await instant(400)
    if (left.length === 0) left = Object.keys(stack.ways)
    const name = pick(left)
    left = left.filter((other) => other !== name)
    taken.push(name)
    await stack.ways[name]?.()
    roundIsOver(`${byHttp.length + byEvent.length} calls acknowledged, ${hook.received.length} requests received`)
  }
  await load.stop()
  await stack.isUp()
  const reborn = await receiver(t, answers(200), '127.0.0.1', deadPort)

  const calls = new Map<string, string>() // of those in the log, by kind
  const mustArrive = () => [...calls].filter(([, kind]) => delivers(kind))
  const stands = async () => new Map((await pool.query<{ call_id: string, status: string }>('SELECT call_id, status FROM ledger.webhook_deliveries')).rows.map(({ call_id, status }) => [call_id, status]))
  let events = 0
  await until('not everything in the log has its row', async () => {
    const log = (await eventsAfter(client, 0n)).filter(({ type }) => type === 'CallCompleted')
    events = log.length
    for (const { stream, data } of log) calls.set(stream.slice('call-'.length), assistants.get((data as { assistant_id: number }).assistant_id) ?? 'nobody')
    return (await stands()).size === calls.size
  }, 60_000)
  const isExhausted = async () => (await pool.query("SELECT FROM ledger.webhook_deliveries WHERE status = 'exhausted' AND assistant_id = $1", [idOf(assistants, 'dead')])).rowCount !== 0
  do {
    const recovered = await run(t, ['webhooks', 'recover', '--since', '1d', '--assistant', String(idOf(assistants, 'dead'))], stack.env)
    if (recovered.code !== 0) t.fail(recovered.stderr)
  } while (await isExhausted())
  await until('not everything arrives', async () => {
    const now = await stands()
    return mustArrive().every(([callId]) => now.get(callId) === 'delivered')
  }, quietWithinMs)

  const stats = await run(t, ['webhooks', 'stats', '--json'], stack.env)
  t.equal(stats.code, 0, stats.stderr)
  const { statuses, ...accounts }: { statuses: Record<string, number> } = JSON.parse(stats.stdout)
  t.match(accounts, { calls: calls.size, rows: calls.size, unaccounted: 0 })
  t.equal(Object.values(statuses).reduce((sum, count) => sum + count), calls.size, 'every call has one status')
  t.same([...byHttp, ...byEvent].filter((callId) => !calls.has(callId)), [], 'what was acknowledged is in the log')
  t.same(load.refused.filter((callId) => calls.has(callId)), [], 'what was refused is not')
  const { rows: [repeated] } = await pool.query('SELECT sum(duplicates)::integer AS events FROM ledger.webhook_deliveries')
  t.same(repeated, { events: events - calls.size }, 'further events of a call are counted')

  const received = [...hook.received, ...reborn.received]
  const byCall = new Map<string, Received[]>()
  for (const request of received) byCall.set(callOf(request), [...byCall.get(callOf(request)) ?? [], request])
  t.same(mustArrive().filter(([callId]) => !byCall.has(callId)), [], 'each call arrived at its healthy receiver')
  t.same([...byCall.keys()].filter((callId) => !calls.has(callId)), [], 'nothing was sent of a call that is not in the log')
  t.same([...byCall].filter(([callId, [first, ...more]]) => first?.headers['webhook-id'] !== deliveryId(callId) || !more.every((again) => isSame(first, again))), [], 'every request for a call has its one id and its one body')
  const made = new Set((await pool.query<{ attempt: string }>("SELECT delivery_id || ' ' || n AS attempt FROM ledger.webhook_attempts WHERE trigger = 'schedule'")).rows.map(({ attempt }) => attempt))
  t.same(received.map(attemptOf).filter((attempt) => !made.has(attempt)), [], 'every request was recorded before it was sent')
  t.equal(new Set(received.map(attemptOf)).size, received.length, 'no attempt was made twice')
  const now = await stands()
  t.same([...calls].filter(([callId, kind]) => !delivers(kind) && now.get(callId) === 'delivered'), [], 'nothing counts as delivered that was not')
  t.equal(blocked.connections(), 0, 'no blocked address was connected to')
  await t.test('signatures are right, readers see every call', async (t) => {
    for (const user of ['1', '2']) {
      const { body } = await call('GET', '/user/webhook-secret', user)
      const secret = new Webhook(String(body.data?.secret))
      t.same(received.filter((request) => userOf(calls.get(callOf(request)) ?? '') === user && !isSignedBy(secret, request)), [])
      const own = [...calls.values()].filter((kind) => userOf(kind) === user).length
      await eventually(async () => (await call('GET', '/user/calls?per_page=1', user)).body.meta?.total === own)
    }
  })
  t.same(roles.flatMap(({ deaths }) => deaths), [], 'no role ended but by a kill')
  const { rows: [unknown] } = await pool.query<{ count: string }>("SELECT count(*) FROM ledger.webhook_attempts WHERE outcome = 'unknown'")
  t.comment(`killed: ${taken.join(', ')}`)
  t.comment(`${byHttp.length} calls acknowledged over HTTP and ${byEvent.length} by event, ${load.givenUp.length} given up, ${load.refused.length} refused; ${calls.size} in the log, ${events - calls.size} events repeated`)
  t.comment(`${received.length} requests received, ${received.length - byCall.size} of them again; ${unknown?.count} attempts of workers that died; ${JSON.stringify(statuses)}`)

  function delivers (kind: string): boolean {
    return kind in others || kinds[kind]?.delivers === true
  }
}

/** Deliveries by receiver and state, who owns what, and what the roles said last. */
async function whereItStands ({ pool, roles }: KillableStack, assistants: ReadonlyMap<number, string>): Promise<string> {
  const table = async (text: string): Promise<Array<Record<string, unknown>>> => await pool.query(text).then(({ rows }) => rows, (error: Error) => [{ error: error.message }])
  const deliveries = await table(`
    SELECT assistant_id, status, reason, queued_at IS NOT NULL AS queued, started_at IS NOT NULL AS started, next_attempt_at <= clock_timestamp() AS due, count(*), min(call_id) AS one
    FROM ledger.webhook_deliveries GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1`)
  const others = [...await table('SELECT * FROM ledger.leases ORDER BY name'), ...await table('SELECT * FROM ledger.dispatcher_checkpoint')]
  return [
    ...deliveries.map((row) => `${assistants.get(Number(row.assistant_id)) ?? 'nobody'} ${JSON.stringify(row)}`),
    ...others.map((row) => JSON.stringify(row)),
    ...roles.map(({ role, words }) => `${role}: ${words()}`)
  ].join('\n')
}

const hostile = new Set(['endless', 'drips', 'drips-headers', 'redirects', 'garbage', 'resets', 'hangs', 'gone', 'blocked', 'of-another'])
const userOf = (kind: string) => hostile.has(kind) ? '2' : '1'
const idOf = (assistants: ReadonlyMap<number, string>, kind: string) => [...assistants].find(([, name]) => name === kind)?.[0]
const kindOf = ({ path }: Received) => path.split('/').at(-1) ?? ''
const callOf = ({ body }: Received) => (JSON.parse(body.toString()) as { data: { call_id: string } }).data.call_id
const attemptOf = ({ headers }: Received) => `${String(headers['webhook-id'])} ${String(headers['webhook-attempt'])}`
const isSame = (one: Received | undefined, other: Received) => one?.headers['webhook-id'] === other.headers['webhook-id'] && one?.body.equals(other.body)
const isSignedBy = (secret: Webhook, { headers, body }: Received) =>
  secret.sign(String(headers['webhook-id']), new Date(Number(headers['webhook-timestamp']) * 1_000), body.toString()) === headers['webhook-signature']

/** Outside the range that systems take ports from by themselves: nobody else gets it meanwhile. */
async function freePort (): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const probe = createServer()
    const isFree = await Promise.race([once(probe.listen(port, '127.0.0.1'), 'listening').then(() => true), once(probe, 'error').then(() => false)])
    probe.close()
    if (isFree) return port
  }
}
