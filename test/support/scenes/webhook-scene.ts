// Assistants whose webhooks lead to receivers of every kind, from healthy to hostile, on a stack that can be killed.
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import type { Test } from 'tap'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { newAssistant } from '../bodies/bodies.js'
import { assistantCreated } from '../events/call-events.js'
import { eventually } from '../eventually.js'
import { behaviours } from '../receivers/hostile-answers.js'
import { killableStack, type KillableStack } from '../processes/killable-stack.js'
import { answers, receiver, type Answer, type Received, type Receiver } from '../receivers/receiver.js'
import type { ScratchRedis } from '../back-ends/redis.js'
import { caller, token, type Call } from '../running-service.js'
import { unbatched } from '../back-ends/scratch-event-store.js'
import { secrets } from '../auth/secrets.js'

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
  /** As a user, where the API listens now. */
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
export const standsStillAfterMs = 90_000

export async function webhookScene (t: Test, redis?: ScratchRedis): Promise<Scene> {
  const blocked = await receiver(t, answers(200), '127.0.0.2')
  const received: Received[] = []
  const remembering = (answer: Answer): Answer => (response, request, count) => {
    received.push(request)
    answer(response, request, count)
  }
  const hook = async (answer: Answer) => (await receiver(t, remembering(answer))).url
  const deadPort = await freePort()
  const stack = await killableStack(t, settings, redis)
  const call: Scene['call'] = async (user, method, path, request) =>
    await caller(stack.api.url())(method, path, { token: await token(secrets.JWT_SECRET, user), ...request })
  const targets = new Map<number, Target>()
  const create = async (webhookUrl: string, target: Omit<Target, 'assistant'>) => {
    const assistant = await createAssistant(call, webhookUrl, target)
    targets.set(assistant, { assistant, ...target })
  }
  for (const [kind, { answer, delivers, hostile }] of Object.entries(behaviours(blocked.url))) {
    await create(await hook(answer), { kind, user: hostile ? '2' : '1', delivers })
  }
  await create(await hook(answers(200)), { kind: 'healthy, beside hostile ones', user: '2', delivers: true })
  await create(`http://127.0.0.1:${deadPort}/dead`, { kind: 'dead', user: '1', delivers: true })
  targets.set(blockedAssistant, { assistant: blockedAssistant, user: '2', kind: 'blocked', delivers: false })
  await appendBlocked(stack.client, blocked)
  const revive = async () => await receiver(t, remembering(answers(200)), '127.0.0.1', deadPort)
  return { stack, targets, received, blocked, call, revive }
}

async function createAssistant (
  call: Scene['call'], webhook_url: string, { kind, user }: Pick<Target, 'kind' | 'user'>
): Promise<number> {
  const body = newAssistant({ is_webhook_active: true, webhook_url })
  const answer = await call(user, 'POST', '/user/assistant', { body })
  const assistant = answer.body.data?.id
  if (assistant === undefined) throw new Error(`no assistant for ${kind}: ${JSON.stringify(answer.body)}`)
  return assistant
}

/** An assistant whose webhook leads to a blocked address, as an event: over HTTP it would be refused. */
async function appendBlocked (client: KillableStack['client'], blocked: Receiver): Promise<void> {
  const webhook = { is_webhook_active: true, webhook_url: `${blocked.url}/direct` }
  const { data } = assistantCreated(blockedAssistant, webhook, '2')
  const event = jsonEvent({ type: 'AssistantCreated', data: { ...data } })
  const stream = `assistant-${blockedAssistant}`
  await client.appendToStream(stream, event, { expectedRevision: NO_STREAM, credentials: unbatched })
}

/** Waits for `condition`; when that does not come true, it says where everything stands. */
export async function until (
  scene: Scene, doing: string, condition: () => Promise<boolean> | boolean, withinMs: number, everyMs = 250
): Promise<void> {
  await eventually(condition, withinMs, everyMs).catch(async (error: Error) => {
    throw new Error(`stood still ${doing}: ${error.message}\n${await whereItStands(scene)}`)
  })
}

/** Deliveries by receiver and state, leases and their holders, and the last output of the roles. */
async function whereItStands ({ stack: { pool, roles }, targets }: Scene): Promise<string> {
  const rows = async (text: string): Promise<Array<Record<string, unknown>>> =>
    await pool.query(text).then(({ rows }) => rows, (error: Error) => [{ error: error.message }])
  const deliveries = await rows(`
    SELECT assistant_id, status, reason, queued_at IS NOT NULL AS queued, started_at IS NOT NULL AS started,
      next_attempt_at <= clock_timestamp() AS due, count(*), min(call_id) AS one
    FROM ledger.webhook_deliveries GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1`)
  const leases = await rows('SELECT name, holder, expires_at FROM ledger.leases ORDER BY name')
  const checkpoint = await rows('SELECT position, epoch, updated_at FROM ledger.dispatcher_checkpoint')
  return [
    ...deliveries.map((row) => `${targets.get(Number(row.assistant_id))?.kind}: ${JSON.stringify(row)}`),
    ...[...leases, ...checkpoint].map((row) => JSON.stringify(row)),
    ...roles.map(({ role, words }) => `${role} said: ${words()}`)
  ].join('\n')
}
