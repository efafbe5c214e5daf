// Call -> delivered: completed calls reach a real receiver, signed, once failed and then again, on both queues.
import { randomUUID } from 'node:crypto'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver, type Received, type Receiver } from '../../support/receivers/receiver.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { connect } from '../../support/back-ends/scratch-event-store.js'
import { localWebhooks, startService, type Call, type RunningService } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'
import { serveLog, scratchPostgres } from '../../support/back-ends/back-ends.js'

interface Payload { type: string, timestamp: string, data: Record<string, unknown> }

/** A user whose assistant has a webhook, and its receiver, which refuses each call once. */
interface Scene {
  service: RunningService & { eventStoreUrl: string }
  call: Call
  /** The token of the call engine. */
  engine: string
  hook: Receiver
  verifier: Webhook
  assistant: number
  lead: number
}

/** What arrived for a call, once that is so many. */
const attempts = (hook: Receiver, callId: string, count: number) => eventually<Received[]>(() => {
  const arrived = hook.received.filter((received) => payloadOf(received).data.call_id === callId)
  if (arrived.length < count) throw new Error(`${arrived.length} of ${count} attempts of ${callId} arrived`)
  return arrived
}, 20_000)

const payloadAbout = (assistant: number, lead: number) => ({
  call_id: 'by-http',
  status: 'completed',
  duration: 42,
  recording_url: 'https://recordings.example.com/1.mp3',
  assistant: { id: assistant, name: 'Front desk' },
  lead: {
    id: lead,
    phone_number: '+15551230100',
    status: 'completed',
    variables: { customer_name: 'Ada Example' },
    campaign: { id: 1, name: 'Spring renewals' }
  },
  transcript_turns: [{ role: 'assistant' }, { role: 'customer', text: 'Grüezi 👋' }],
  extracted_variables: { status: true, summary: 'A greeting' }
})

/** What holds of calls, in this order. */
const rules: Record<string, (t: Test, scene: Scene) => Promise<void>> = {
  'a call that is reported by HTTP is delivered, signed, at the second try': async (t, scene) => {
    const { call, engine, hook, verifier, assistant, lead } = scene
    const answer = await call('POST', '/engine/calls/by-http/completed', {
      token: engine, body: callReport(assistant, { lead_id: lead })
    })
    t.equal(answer.status, 202)
    const [first, second] = await attempts(hook, 'by-http', 2)
    if (!first || !second) throw new Error('unreachable')
    t.ok(first.body.equals(second.body), 'the same bytes')
    t.equal(first.headers['webhook-id'], second.headers['webhook-id'], 'the same webhook-id')
    t.same([first, second].map(({ headers }) => headers['webhook-attempt']), ['1', '2'])
    t.ok(second.at - first.at >= 750, 'after the wait of the schedule')
    for (const { headers, body } of [first, second]) verifier.verify(body.toString(), headers as Record<string, string>)
    t.throws(() => verifier.verify(
      second.body.toString().replace('by-http', 'by-htpp'), second.headers as Record<string, string>
    ), 'changed bytes do not verify')
    const { type, timestamp, data } = payloadOf(second)
    t.equal(type, 'call.completed')
    t.match(timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    t.match(data, payloadAbout(assistant, lead))
  },

  'a call that is reported by event is delivered like it': async (t, { service, hook, verifier, assistant, lead }) => {
    const client = connect(t, service.eventStoreUrl)
    const data = { call_id: 'by-event', ...callReport(assistant, { lead_id: lead }) }
    await client.appendToStream(
      'call-by-event', [jsonEvent({ id: randomUUID(), type: 'CallCompleted', data })], { expectedRevision: NO_STREAM }
    )
    const [first, second] = await attempts(hook, 'by-event', 2)
    t.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
    t.ok(second)
    if (second) t.doesNotThrow(() => verifier.verify(second.body.toString(), second.headers as Record<string, string>))
  },

  'the same report again is accepted and delivers nothing more, another one is refused': async (t, scene) => {
    const { call, engine, hook, assistant, lead } = scene
    const again = await call('POST', '/engine/calls/by-http/completed', {
      token: engine, body: callReport(assistant, { lead_id: lead })
    })
    t.equal(again.status, 202)
    const other = await call('POST', '/engine/calls/by-http/completed', {
      token: engine, body: callReport(assistant, { lead_id: lead, duration: 43 })
    })
    t.equal(other.status, 409)
    t.same(Object.keys(other.body), ['message'])
    await call('POST', '/engine/calls/after-it/completed', { token: engine, body: callReport(assistant) })
    await attempts(hook, 'after-it', 2)
    t.equal((await attempts(hook, 'by-http', 2)).length, 2)
    t.equal((await attempts(hook, 'by-event', 2)).length, 2)
  }
}

t.test('on the queue in Postgres', (t) => journey(t, {}))
t.test('on the queue in Redis', { skip: noRedis() }, async (t) => {
  const { url } = process.env.REDIS_URL ? { url: process.env.REDIS_URL } : await scratchRedis(t)
  await journey(t, { REDIS_URL: url })
})

async function journey (t: Test, env: Record<string, string>): Promise<void> {
  const { url: databaseUrl } = await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl })
  t.teardown(store.close)
  const given = { ...secrets, DATABASE_URL: databaseUrl, EVENTSTORE_URL: store.url, ...localWebhooks, ...env }
  const service = { ...await startService(t, { env: given }), eventStoreUrl: store.url }
  const scene = await sceneOn(t, service)
  for (const [title, rule] of Object.entries(rules)) await t.test(title, (t) => rule(t, scene))
  t.equal((await service.stop()).code, 0, 'and it drains when it is asked to stop')
}

async function sceneOn (t: Test, service: Scene['service']): Promise<Scene> {
  const { call } = service
  const user = await service.token('1')
  const hook = await receiver(t, (response, { body }) => {
    const earlier = hook.received.filter((received) => received.body.equals(body)).length
    response.writeHead(earlier === 1 ? 503 : 204).end()
  })
  const assistant = (await call('POST', '/user/assistant', {
    token: user, body: newAssistant({ is_webhook_active: true, webhook_url: hook.url, phone_number_id: 1 })
  })).body.data?.id ?? 0
  const lead = (await call('POST', '/user/lead', {
    token: user, body: newLead({ variables: { customer_name: 'Ada Example' } })
  })).body.data?.id ?? 0
  const { body } = await call('GET', '/user/webhook-secret', { token: user })
  const verifier = new Webhook(String(body.data?.secret))
  return { service, call, engine: await service.token('engine', 'engine'), hook, verifier, assistant, lead }
}

function payloadOf ({ body }: Received): Payload {
  return JSON.parse(body.toString())
}
