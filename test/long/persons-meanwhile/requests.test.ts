// What a user or an operator asks for while a person is erased, at each step of it: to begin many webhooks anew, and
// other keys for all that is sealed. Nothing of the person comes back.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { keyBytes } from '../../../src/services/complete-config.js'
import { resealKeys } from '../../../src/privacy/rewrap.js'
import { reseal } from '../../../workers/operate/reseal.js'
import { secrets } from '../../support/auth/secrets.js'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
const anotherKey = randomBytes(32).toString('base64')
const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s', SECRET_KEY_PREVIOUS: anotherKey
})
const { call, parts: { pool, streams } } = service
const erase = erasing(service)
const hook = await receiver(t, answers(500, {}, 'Ada Hidden is known to us'))
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
const steps = ['leads', 'named', 'erase-calls', 'key', 'ledger', 'done'] as const
const since = new Date(Date.now() - 3_600_000).toISOString()
let count = 0

interface Known { gone: string, leadId: number, callId: string, assistant: number, delivery: string }
/** A lead with a call, whose webhook had one attempt and is given up. */
async function known (): Promise<Known> {
  const [gone, callId] = [numberOf(++count), `asked-${count}`]
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const assistant = (await call('POST', '/user/assistant', newAssistant(webhook))).body.data.id // may ask for ten a minute
  const leadId = (await call('POST', '/user/lead', newLead({ phone_number: gone, variables }))).body.data.id
  await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant, { from: gone, lead_id: leadId }), engine)
  const delivery = await eventually(async () => (await pool.query<{ id: string }>(
    "SELECT id FROM ledger.webhook_deliveries WHERE call_id = $1 AND status = 'exhausted'", [callId])).rows[0]?.id ?? false, 30_000)
  return { gone, leadId, callId, assistant, delivery }
}

async function isErased (t: Test, what: string, { gone, leadId, callId, delivery }: Known): Promise<void> {
  t.equal((await call('GET', `/user/lead/${leadId}`)).status, 404, what)
  t.match((await call('GET', `/user/call/${callId}`)).body.data, { erased: true, from: null, transcript: null }, what)
  const { rows } = await pool.query(
    'SELECT body, status IN (\'exhausted\', \'cancelled\') AS has_ended FROM ledger.webhook_deliveries WHERE id = $1', [delivery])
  t.strictSame(rows, [{ body: null, has_ended: true }], `${what}: the webhook`)
  const { rows: attempts } = await pool.query<{ outcome: string | null, response_excerpt: string | null }>(
    'SELECT outcome, response_excerpt FROM ledger.webhook_attempts WHERE delivery_id = $1', [delivery])
  t.ok(attempts.every(({ outcome }) => outcome !== null), `${what}: nothing waits to be sent`)
  t.ok(attempts.every(({ response_excerpt: said }) => said === null), `${what}: nothing of what receivers had said`)
  await hasNothingOf(t, service, gone)
}

async function atEachStep (t: Test, what: string, ask: (person: Known) => Promise<unknown>): Promise<void> {
  await Promise.all(steps.map(async (step) => {
    const person = await known()
    await erase(person.gone, { [step]: () => ask(person) })
    await isErased(t, `${what} at ${step}`, person)
  }))
}

t.test('to begin many anew', (t) => atEachStep(t, 'recovered', async ({ assistant }) => {
  const { status } = await call('POST', `/user/assistant/${assistant}/webhook-recover`, { since })
  t.equal(status, 202)
}))

t.test('other keys for all that is sealed', async (t) => {
  const own = keyBytes(secrets.SECRET_KEY)
  const other = keyBytes(anotherKey)
  let isOther = false
  await atEachStep(t, 'resealed', async () => {
    isOther = !isOther
    const keys = isOther ? { current: other, previous: [own] } : { current: own, previous: [other] }
    await reseal({ pool, keys })
    await resealKeys({ pool, streams, secretKeys: keys, signal: new AbortController().signal })
  })
})
