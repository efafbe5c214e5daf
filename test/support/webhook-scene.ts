// Assistants whose webhooks lead to receivers of every kind, from healthy to hostile, on a stack that can be killed.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import type { Test } from 'tap'
import { newAssistant } from './bodies.js'
import { assistantCreated } from './call-events.js'
import { behaviours } from './hostile-answers.js'
import { killableStack, type KillableStack } from './killable-stack.js'
import { answers, receiver, type Answer, type Received, type Receiver } from './receiver.js'
import type { ScratchRedis } from './redis.js'
import { caller, token, type Call } from './running-service.js'
import { unbatched } from './scratch-event-store.js'
import { secrets } from './secrets.js'

/** Where the webhooks of one assistant go. */
export interface Target {
  assistant: number
  user: string
  kind: string
  /** Whether it is healthy in the end, so that every call must arrive. */
  delivers: boolean
}

export interface Scene {
  stack: KillableStack
  /** By assistant. */
  targets: ReadonlyMap<number, Target>
  /** What arrived at all receivers. */
  received: Received[]
  /** Must see no connection: redirects and one webhook URL lead there. */
  blocked: Receiver
  /** As a user, at wherever the API is just now. */
  call (user: string, ...request: Parameters<Call>): ReturnType<Call>
  /** Lets the receiver that refused connections be one that answers. */
  revive (): Promise<unknown>
}

const settings = {
  WEBHOOK_SCHEDULE: '0s,300ms,1s,3s,10s,10s,10s,10s',
  WEBHOOK_TIMEOUT_MS: '3000',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' // so that another address of this machine is a blocked one
}
const blockedAssistant = 900_001

export async function webhookScene (t: Test, redis?: ScratchRedis): Promise<Scene> {
  const blocked = await receiver(t, answers(200), '127.0.0.2')
  const received: Received[] = []
  const remembering = (answer: Answer): Answer => (response, request, count) => {
    received.push(request)
    answer(response, request, count)
  }
  const deadPort = await freePort()
  const stack = await killableStack(t, settings, redis)
  const targets = new Map<number, Target>()
  const call: Scene['call'] = async (user, method, path, request) =>
    await caller(stack.api.url())(method, path, { token: await token(secrets.JWT_SECRET, user), ...request })

  const create = async (kind: string, user: string, webhook_url: string, delivers: boolean) => {
    const { body } = await call(user, 'POST', '/user/assistant', { body: newAssistant({ is_webhook_active: true, webhook_url }) })
    const assistant = body.data?.id
    if (assistant === undefined) throw new Error(`no assistant for ${kind}: ${JSON.stringify(body)}`)
    targets.set(assistant, { assistant, user, kind, delivers })
  }
  for (const [kind, { answer, delivers, hostile }] of Object.entries(behaviours(blocked.url))) await create(kind, hostile ? '2' : '1', (await receiver(t, remembering(answer))).url, delivers)
  await create('healthy, beside hostile ones', '2', (await receiver(t, remembering(answers(200)))).url, true)
  await create('dead', '1', `http://127.0.0.1:${deadPort}/dead`, true)
  // Over HTTP that would be refused.
  targets.set(blockedAssistant, { assistant: blockedAssistant, user: '2', kind: 'blocked', delivers: false })
  const { data } = assistantCreated(blockedAssistant, { is_webhook_active: true, webhook_url: `${blocked.url}/direct` }, '2')
  await stack.client.appendToStream(`assistant-${blockedAssistant}`, jsonEvent({ type: 'AssistantCreated', data: { ...data } }), { expectedRevision: NO_STREAM, credentials: unbatched })
  return { stack, targets, received, blocked, call, revive: async () => await receiver(t, remembering(answers(200)), '127.0.0.1', deadPort) }
}

/** Deliveries by receiver and state, who owns what, and what the roles said last: for whoever waits in vain. */
export async function whereItStands ({ stack: { pool, roles }, targets }: Scene): Promise<string> {
  const rows = async (text: string): Promise<Array<Record<string, unknown>>> => await pool.query(text).then(({ rows }) => rows, (error: Error) => [{ error: error.message }])
  const deliveries = await rows(`
    SELECT assistant_id, status, reason, queued_at IS NOT NULL AS queued, started_at IS NOT NULL AS started, next_attempt_at <= clock_timestamp() AS due, count(*), min(call_id) AS one
    FROM ledger.webhook_deliveries GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1`)
  const owners = [...await rows('SELECT name, holder, expires_at FROM ledger.leases ORDER BY name'), ...await rows('SELECT position, epoch, updated_at FROM ledger.dispatcher_checkpoint')]
  return [
    ...deliveries.map((row) => `${targets.get(Number(row.assistant_id))?.kind}: ${JSON.stringify(row)}`),
    ...owners.map((row) => JSON.stringify(row)),
    ...roles.map(({ role, words }) => `${role} said: ${words()}`)
  ].join('\n')
}

/** Outside the range that systems take ports from by themselves: nobody else gets it meanwhile. */
async function freePort (): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(() => true, () => false)
    probe.close()
    if (isFree) return port
  }
}
