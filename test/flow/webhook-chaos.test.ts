// Calls are reported while roles and back ends are killed with kill -9: no webhook is lost or made up.
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { deliveryId } from '../../workers/dispatch/delivery-id.js'
import { recover } from '../../workers/operate/recover.js'
import { callLoad, type CallLoad } from '../support/call-load.js'
import { chaos, type Chaos } from '../support/chaos.js'
import { eventually } from '../support/eventually.js'
import { eventsAfter } from '../support/log.js'
import type { Received } from '../support/receiver.js'
import { noRedis, scratchRedis, type ScratchRedis } from '../support/redis.js'
import { run } from '../support/ringledger.js'
import { webhookScene, whereItStands, type Scene, type Target } from '../support/webhook-scene.js'

const usualRounds = 1
const standsStillAfterMs = 90_000
/** On a busy machine an attempt may time out, and the next one comes a minute later. */
const quietWithinMs = 150_000
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
  const since = new Date(0)
  const isLeft = async () => (await pool.query(`
    SELECT FROM ledger.webhook_deliveries WHERE user_id = '1' AND status = 'exhausted'`)).rowCount !== 0
  do await recover({ pool, since, userId: '1', signal: new AbortController().signal })
  while (await isLeft())
  const healthy = [...targets.values()].filter(({ delivers }) => delivers).map(({ assistant }) => assistant)
  await until(scene, 'delivering to every healthy receiver', async () =>
    (await pool.query(`
      SELECT FROM ledger.webhook_deliveries
      WHERE status <> 'delivered' AND assistant_id = ANY($1) LIMIT 1`, [healthy])).rowCount === 0, quietWithinMs)
  return { calls, events }
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
  t.comment(
    `acknowledged: ${byHttp.length} calls over HTTP, ${byEvent.length} by event; ${givenUp.length} given up, ${refused.length} refused; in the log: ${calls.size} calls, ${events - calls.size} of their events again; ${JSON.stringify(
      statuses
    )}`
  )
}

async function everyWebhookIsRight (t: Test, scene: Scene, calls: Calls): Promise<void> {
  const { received, blocked, stack: { pool } } = scene
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
  t.equal(blocked.connections(), 0, 'no blocked address was connected to')

  const { rows } = await pool.query<{ attempt: string, outcome: string }>(`
    SELECT delivery_id || ' ' || n AS attempt, outcome FROM ledger.webhook_attempts
    WHERE trigger = 'schedule'`)
  const recorded = new Set(rows.map(({ attempt }) => attempt))
  t.same(received.map(attemptOf).filter((attempt) => !recorded.has(attempt)), [], 'every request was recorded')
  t.equal(
    new Set(received.map(attemptOf)).size,
    received.length,
    'no attempt was made twice: it was recorded before it was sent'
  )
  const again = [...byCall].filter(([call]) => calls.get(call)?.kind.startsWith('healthy'))
    .reduce((sum, [, requests]) => sum + requests.length - 1, 0)
  t.comment(`${received.length} requests received; ${again} of them once more by a healthy receiver; ${rows.filter(
    ({ outcome }) => outcome === 'unknown'
  ).length} of ${rows.length} attempts have an unknown end`)
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

/** Waits for `condition`; when that does not come true, it says where everything stands. */
async function until (
  scene: Scene, doing: string, condition: () => Promise<boolean> | boolean, withinMs: number, everyMs = 250
): Promise<void> {
  await eventually(condition, withinMs, everyMs).catch(async (error: Error) => {
    throw new Error(`stood still ${doing}: ${error.message}\n${await whereItStands(scene)}`)
  })
}

async function statuses ({ stack: { pool } }: Scene): Promise<Map<string, string>> {
  const { rows } =
    await pool.query<{ call_id: string, status: string }>('SELECT call_id, status FROM ledger.webhook_deliveries')
  return new Map(rows.map(({ call_id, status }) => [call_id, status]))
}

const callOf = ({ body }: Received) => (JSON.parse(body.toString()) as { data: { call_id: string } }).data.call_id
const attemptOf = ({ headers }: Received) => `${String(headers['webhook-id'])} ${String(headers['webhook-attempt'])}`
const isSignedBy = (secret: Webhook, { headers, body }: Received) =>
  secret.sign(
    String(headers['webhook-id']), new Date(Number(headers['webhook-timestamp']) * 1_000), body.toString()
  ) === headers['webhook-signature']
