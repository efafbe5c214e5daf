// Calls are reported while roles and back ends are killed with kill -9: no webhook is lost or made up.
import t, { type Test } from 'tap'
import { type CallLoad, callLoad } from './call-load.js'
import { type Chaos, chaos, freePort } from '@ringledger/embedded-postgres/testing'
import { type ScratchRedis, noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { Webhook } from 'standardwebhooks'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { recover } from '../../../workers/operate/recoveries.js'
import { eventsAfter } from '../../support/back-ends/scratch-event-store.js'
import {
  type Answer, type Received, answers, callOf, receiver
} from '../../support/receivers/receiver.js'
import { run } from '../../support/ringledger.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { killableStack } from './killable-stack.js'
import { type Call, caller, token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'

/** How receivers behave, and whether a webhook ends as delivered there. */
const behaviours: Record<string, { answer: Answer, delivers: boolean }> = {
  healthy: { answer: answers(200), delivers: true },
  flapping: { answer: flapping(), delivers: true },
  hangs: { answer: () => {}, delivers: false },
  gone: { answer: answers(410), delivers: false }
}

function flapping (): Answer {
  const seen = new Map<unknown, number>()
  const often = (id: unknown) => seen.set(id, (seen.get(id) ?? 0) + 1).get(id) ?? 0
  return (response, received, count) => {
    const succeeds = often(received.headers['webhook-id']) % 2 === 0
    answers(succeeds ? 200 : 500)(response, received, count)
  }
}

/** Where the webhooks of one assistant go. */
interface Target {
  assistant: number
  user: string
  kind: string
  /** Whether it is healthy in the end, so that every call must arrive. */
  delivers: boolean
}

type Scene = Awaited<ReturnType<typeof webhookScene>>

const settings = {
  WEBHOOK_SCHEDULE: '0s,300ms,1s,3s,10s,10s,10s,10s',
  WEBHOOK_TIMEOUT_MS: '3000'
}
const standsStillAfterMs = 90_000

async function webhookScene (t: Test, redis?: ScratchRedis) {
  /** What arrived at all receivers. */
  const received: Received[] = []
  const remembering = (answer: Answer): Answer => (response, request, count) => {
    received.push(request)
    answer(response, request, count)
  }
  const hook = async (answer: Answer) => (await receiver(t, remembering(answer))).url
  const deadPort = await freePort()
  const stack = await killableStack(t, settings, redis)
  /** As a user, where the API listens now. */
  const call = async (user: string, ...[method, path, request]: Parameters<Call>) =>
    await caller(stack.api.url())(method, path, { token: await token(secrets.JWT_SECRET, user), ...request })
  const targets = new Map<number, Target>()
  const create = async (webhook_url: string, target: Omit<Target, 'assistant'>) => {
    const body = newAssistant({ is_webhook_active: true, webhook_url })
    const answer = await eventually(async () => { // an API that has just started gives out no ids yet
      const answer = await call(target.user, 'POST', '/user/assistant', { body })
      return answer.status !== 503 && answer
    }, 30_000)
    const assistant: number = answer.body.data.id
    targets.set(assistant, { assistant, ...target })
  }
  for (const [kind, { answer, delivers }] of Object.entries(behaviours)) {
    await create(await hook(answer), { kind, user: delivers ? '1' : '2', delivers })
  }
  await create(await hook(answers(200)), { kind: 'healthy, beside those that fail', user: '2', delivers: true })
  await create(`http://127.0.0.1:${deadPort}/dead`, { kind: 'dead', user: '1', delivers: true })
  /** Lets the receiver that refused connections be one that answers. */
  const revive = async () => await receiver(t, remembering(answers(200)), '127.0.0.1', deadPort)
  return { stack, targets, received, call, revive }
}

/** Waits for `condition`; when that does not come true, it says what the roles said last. */
async function until (
  scene: Scene, doing: string, condition: () => Promise<boolean> | boolean, withinMs: number, everyMs = 250
): Promise<void> {
  await eventually(condition, withinMs, everyMs).catch((error: Error) => {
    const said = scene.stack.roles.map(({ role, words }) => `${role} said: ${words()}`)
    throw new Error(`stood still ${doing}: ${error.message}\n${said.join('\n')}`)
  })
}

// What must hold of a webhook scene once it is quiet: every call is accounted for, and every webhook is right.
/** On a busy machine an attempt may time out, and the next one comes a minute later. */
const quietWithinMs = 150_000

/** Target by call, of all calls in the log; undefined for those of nobody's. */
type Calls = ReadonlyMap<string, Target | undefined>

/** Resolves when every call in the log has its row, and has arrived where that is healthy. */
async function settled (scene: Scene): Promise<{ calls: Calls, events: number }> {
  const { stack: { pool, client }, targets } = scene
  const calls = new Map<string, Target | undefined>()
  let events = 0
  await until(scene, 'giving every call in the log its row', async () => {
    const log = (await eventsAfter(client, 0n)).filter(({ type }) => type === 'CallCompleted')
    events = log.length
    for (const { stream, data } of log) {
      calls.set(stream.slice('call-'.length), targets.get((data as { assistant_id: number }).assistant_id))
    }
    return (await statuses(scene)).size === calls.size
  }, standsStillAfterMs)
  // As an operator after an outage of receivers; the one that was dead may have used up its attempts.
  const isLeft = async () => (await pool.query(`
    SELECT FROM ledger.webhook_deliveries WHERE user_id = '1' AND status = 'exhausted'`)).rowCount !== 0
  do await recover({ pool, ...everything, userId: '1' })
  while (await isLeft())
  const healthy = [...targets.values()].filter(({ delivers }) => delivers).map(({ assistant }) => assistant)
  for (let left = Infinity; left > 0;) { // some receivers take their time, so what counts is that it becomes less
    await until(scene, 'delivering to every healthy receiver', async () => {
      const before = left
      const waiting = await undelivered(scene, healthy)
      for (const { id, hasCrashed } of waiting) {
        if (hasCrashed) await recover({ pool, ...everything, assistantId: Number(id) })
      }
      left = Math.min(left, waiting.reduce((sum, { count }) => sum + count, 0))
      return left < before
    }, quietWithinMs)
  }
  return { calls, events }
}

const everything = { since: new Date(0), signal: new AbortController().signal }

/** By assistant. What was in flight at four kills in a row is `crashed`, and waits until somebody asks again. */
async function undelivered ({ stack: { pool } }: Scene, assistants: number[]) {
  const { rows } = await pool.query<{ id: string, count: number, hasCrashed: boolean | null }>(`
    SELECT assistant_id AS id, count(*)::integer, bool_or(reason = 'crashed') AS "hasCrashed"
    FROM ledger.webhook_deliveries WHERE status <> 'delivered' AND assistant_id = ANY($1) GROUP BY 1`, [assistants])
  return rows
}

async function everyCallIsAccountedFor (
  t: Test, { stack: { env, pool } }: Scene, load: CallLoad, calls: Calls, events: number
): Promise<void> {
  const { acknowledged: { byHttp, byEvent }, refused, givenUp } = load
  const { code, stdout, stderr } = await run(t, ['webhooks', 'stats', '--json'], env)
  t.equal(code, 0, stderr)
  const { statuses, ...accounts }: { statuses: Record<string, number> } = JSON.parse(stdout)
  t.match(accounts, { calls: calls.size, rows: calls.size, unaccounted: 0 })
  t.equal(Object.values(statuses).reduce((sum, count) => sum + count), calls.size, 'every call has one status')
  t.same([...byHttp, ...byEvent].filter((call) => !calls.has(call)), [], 'what was acknowledged is in the log')
  t.same(refused.filter((call) => calls.has(call)), [], 'what was refused is not')
  t.same(
    (await pool.query('SELECT sum(duplicates)::integer AS events FROM ledger.webhook_deliveries')).rows,
    [{ events: events - calls.size }],
    'further events of a call are counted'
  )
  t.comment([
    `acknowledged: ${byHttp.length} calls over HTTP, ${byEvent.length} by event`,
    `${givenUp.length} given up, ${refused.length} refused`,
    `in the log: ${calls.size} calls, ${events - calls.size} of their events again`,
    JSON.stringify(statuses)
  ].join('; '))
}

async function everyWebhookIsRight (t: Test, scene: Scene, calls: Calls): Promise<void> {
  const { received, stack: { pool } } = scene
  const byCall = new Map([...calls.keys()].map((call): [string, Received[]] => [call, []]))
  for (const request of received) byCall.get(callOf(request))?.push(request)
  const now = await statuses(scene)
  t.same([...calls].filter(([call, target]) => target?.delivers &&
    byCall.get(call)?.length === 0), [], 'each call arrived at its healthy receiver')
  t.same(
    received.filter((request) => !calls.has(callOf(request))), [], 'nothing was sent of a call that is not in the log'
  )
  t.same([...byCall].filter(([call, requests]) => requests.some(
    ({ headers, body }) => headers['webhook-id'] !== deliveryId(call) || !requests[0]?.body.equals(body)
  )), [], 'every request for a call has its id and the same body')
  t.same([...calls].filter(([call, target]) => !target?.delivers &&
    now.get(call) === 'delivered'), [], 'nothing counts as delivered that was not')

  const attempts = received.map(attemptOf)
  const { rows } = await pool.query<{ attempt: string, outcome: string | null }>(`
    SELECT delivery_id || ' ' || n AS attempt, outcome FROM ledger.webhook_attempts WHERE trigger = 'schedule'
    UNION ALL SELECT delivery_id || ' ' || n, NULL FROM ledger.webhook_due WHERE worker IS NOT NULL AND trigger = 'schedule'`)
  const recorded = new Set(rows.map(({ attempt }) => attempt))
  t.same(attempts.filter((attempt) => !recorded.has(attempt)), [], 'every request has its row')
  t.equal(new Set(attempts).size, attempts.length, 'no attempt was made twice')
  const again = [...byCall].filter(([call]) => calls.get(call)?.kind.startsWith('healthy'))
    .reduce((sum, [, requests]) => sum + requests.length - 1, 0)
  const unknown = rows.filter(({ outcome }) => outcome === 'unknown').length
  t.comment([
    `${received.length} requests received`,
    `${again} of them once more by a healthy receiver`,
    `${unknown} of ${rows.length} attempts have an unknown end`
  ].join('; '))
}

async function readersSeeEveryCall (t: Test, scene: Scene, calls: Calls): Promise<void> {
  for (const user of ['1', '2']) {
    const own = [...calls.values()].filter((target) => target?.user === user).length
    await until(scene, `projecting the calls of user ${user}`, async () =>
      (await scene.call(user, 'GET', '/user/calls?per_page=1')).body.meta?.total === own, standsStillAfterMs)
    const { body } = await scene.call(user, 'GET', '/user/webhook-secret')
    const secret = new Webhook(String(body.data?.secret))
    t.same(scene.received.filter((request) => calls.get(callOf(request))?.user === user &&
      !isSignedBy(secret, request)), [], 'every request is signed with the secret of its user')
  }
}

async function statuses ({ stack: { pool } }: Scene): Promise<Map<string, string>> {
  const { rows } =
    await pool.query<{ call_id: string, status: string }>('SELECT call_id, status FROM ledger.webhook_deliveries')
  return new Map(rows.map(({ call_id, status }) => [call_id, status]))
}

const attemptOf = ({ headers }: Received) => `${String(headers['webhook-id'])} ${String(headers['webhook-attempt'])}`
const isSignedBy = (secret: Webhook, { headers, body }: Received) =>
  secret.sign(
    String(headers['webhook-id']), new Date(Number(headers['webhook-timestamp']) * 1_000), body.toString()
  ) === headers['webhook-signature']

const usualRounds = 120
/** So that what stands still can say so. */
const restMs = 2 * standsStillAfterMs + 2 * quietWithinMs

t.jobs = 2 // at the end both mostly wait
const [onPostgres, onRedis] =
  ['Postgres', 'Redis'].map((queue) => chaos(t, `webhooks, queue in ${queue}`, usualRounds, restMs)) as [Chaos, Chaos]
const title = ({ rounds, seed }: Chaos, queue: string) =>
  `with the queue in ${queue} every call is accounted for after ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`
t.test(title(onPostgres, 'Postgres'), { timeout: onPostgres.timeout }, (t) => webhooksSurvive(t, onPostgres))
t.test(title(onRedis, 'Redis'), { timeout: onRedis.timeout, skip: noRedis() }, async (t) =>
  webhooksSurvive(t, onRedis, await scratchRedis(t)))

async function webhooksSurvive (t: Test, chaos: Chaos, redis?: ScratchRedis): Promise<void> {
  const beganAt = Date.now()
  const seconds = () => Math.round((Date.now() - beganAt) / 1000)
  const scene = await webhookScene(t, redis)
  const { api, client, roles } = scene.stack
  const load = callLoad({
    seed: chaos.seed,
    client,
    apiUrl: api.url,
    assistants: [...scene.targets.values()]
      .flatMap(({ assistant, delivers }) => Array<number>(delivers ? 3 : 1).fill(assistant))
  })
  const [upAfter, taken] = [seconds(), await shaken(scene, load, chaos)]
  await load.stop()
  await scene.stack.isUp()
  const shakenAfter = seconds()
  await scene.revive()
  const { calls, events } = await settled(scene)
  t.comment(
    `up after ${upAfter} s, shaken until ${shakenAfter} s, quiet after ${seconds()} s; killed: ${taken.join(', ')}`
  )

  await everyCallIsAccountedFor(t, scene, load, calls, events)
  await everyWebhookIsRight(t, scene, calls)
  await readersSeeEveryCall(t, scene, calls)
  t.same(roles.flatMap(({ deaths }) => deaths), [], 'no role ended but by a kill')
}

/** Rounds of load and kills; every way comes once before one comes again. @returns the ways taken */
async function shaken (
  scene: Scene, { acknowledged: { byHttp, byEvent } }: CallLoad, { rounds, pick, instant, roundIsOver }: Chaos
): Promise<string[]> {
  const { stack: { ways }, received } = scene
  const taken: string[] = []
  for (let left: string[] = []; taken.length < rounds;) {
    const [http, event, requests] = [byHttp.length, byEvent.length, received.length]
    await until(
      scene, `acknowledging and delivering after ${taken.at(-1) ?? 'the start'}`,
      () => byHttp.length > http + 5 && byEvent.length > event + 5 && received.length > requests, standsStillAfterMs,
      20
    )
    await instant(400)
    if (left.length === 0) left = Object.keys(ways)
    const name = pick(left)
    left = left.filter((other) => other !== name)
    taken.push(name)
    await ways[name]?.()
    roundIsOver(`${byHttp.length + byEvent.length} calls acknowledged, ${received.length} requests received`)
  }
  return taken
}
