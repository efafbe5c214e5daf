// What must hold of a webhook scene once it is quiet: every call is accounted for, and every webhook is right.
import type { Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { recover } from '../../../workers/operate/recover.js'
import type { CallLoad } from './call-load.js'
import { eventsAfter } from '../back-ends/log.js'
import { callOf, type Received } from '../receivers/receiver.js'
import { run } from '../ringledger.js'
import { standsStillAfterMs, until, type Scene, type Target } from './webhook-scene.js'

/** On a busy machine an attempt may time out, and the next one comes a minute later. */
export const quietWithinMs = 150_000

/** Target by call, of all calls in the log; undefined for those of nobody's. */
type Calls = ReadonlyMap<string, Target | undefined>

/** Resolves when every call in the log has its row, and has arrived where that is healthy. */
export async function settled (scene: Scene): Promise<{ calls: Calls, events: number }> {
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

/** By assistant. What was in flight at three kills in a row is `crashed`, and waits until somebody asks again. */
async function undelivered ({ stack: { pool } }: Scene, assistants: number[]) {
  const { rows } = await pool.query<{ id: string, count: number, hasCrashed: boolean | null }>(`
    SELECT assistant_id AS id, count(*)::integer, bool_or(reason = 'crashed') AS "hasCrashed"
    FROM ledger.webhook_deliveries WHERE status <> 'delivered' AND assistant_id = ANY($1) GROUP BY 1`, [assistants])
  return rows
}

export async function everyCallIsAccountedFor (
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

export async function everyWebhookIsRight (t: Test, scene: Scene, calls: Calls): Promise<void> {
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
    SELECT delivery_id || ' ' || n AS attempt, outcome FROM ledger.all_webhook_attempts
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
  const unknown = rows.filter(({ outcome }) => outcome === 'unknown').length
  t.comment([
    `${received.length} requests received`,
    `${again} of them once more by a healthy receiver`,
    `${unknown} of ${rows.length} attempts have an unknown end`
  ].join('; '))
}

export async function readersSeeEveryCall (t: Test, scene: Scene, calls: Calls): Promise<void> {
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
