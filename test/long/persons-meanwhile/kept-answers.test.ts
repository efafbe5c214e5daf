// Requests with an Idempotency-Key that named a person who is erased: a retry answers nothing of the person, and makes
// nobody anew, whether its answer was kept, or was lost with its process.
import t, { type Test } from 'tap'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { newLead } from '../../support/bodies/bodies.js'
import type { Answer } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool } } = service
const erase = erasing(service)
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
let count = 0

type Retry = () => Promise<Answer>
/** Sends it once; @returns what sends it again, with the same key. */
async function once (key: string, method: string, path: string, body: object): Promise<Retry> {
  const send = () => call(method, path, body, { headers: { 'idempotency-key': key } })
  const { status } = await send()
  if (status >= 300) throw new Error(`${method} ${path}: ${status}`)
  return send
}

/** By what they are: each names the person in its body. */
const requests: Record<string, (key: string, gone: string) => Promise<Retry>> = {
  'the lead': (key, gone) => once(key, 'POST', '/user/lead', newLead({ phone_number: gone, variables, allow_dupplicate: true })),
  'a lead of which they are a contact': (key, gone) => once(key, 'POST', '/user/lead', newLead({
    phone_number: numberOf(++count), secondary_contacts: [{ phone_number: gone, variables }]
  })),
  async 'a change of the lead' (key, gone) {
    const { body: { data: { id } } } = await call('POST', '/user/lead', newLead({ phone_number: gone }))
    return await once(key, 'PUT', `/user/lead/${id}`, { variables })
  },
  async 'a change that adds the contact' (key, gone) {
    const { body: { data: { id } } } = await call('POST', '/user/lead', newLead({ phone_number: numberOf(++count) }))
    return await once(key, 'PUT', `/user/lead/${id}`, { secondary_contacts: [{ phone_number: gone, variables }] })
  },
  async 'a change that changes nothing' (key, gone) {
    const { body: { data: { id } } } = await call('POST', '/user/lead', newLead({ phone_number: gone, variables }))
    return await once(key, 'PUT', `/user/lead/${id}`, { variables })
  },
  async 'a change that takes the contact away' (key, gone) {
    const { body: { data: { id } } } = await call('POST', '/user/lead', newLead({ phone_number: numberOf(++count) }))
    const retry = await once(key, 'PUT', `/user/lead/${id}`, { secondary_contacts: [{ phone_number: gone, variables }] })
    await call('PUT', `/user/lead/${id}`, { secondary_contacts: [] })
    return retry
  },
  'the do-not-call entry': (key, gone) =>
    once(key, 'POST', '/user/blacklist', { phone_number: gone, reason: 'Ada Hidden asked' })
}

/** As the process leaves it that dies between the append and the answer. */
const lost = (key: string) => pool.query(`
  UPDATE ledger.idempotency_keys SET committed_at = NULL, about = NULL, answer = NULL, answer_key_id = NULL,
    leased_until = '-infinity' WHERE key = $1`, [key])

function saysNothing (t: Test, { status, body }: Answer, what: string): void {
  t.ok(status < 500, `${what}: ${status}`)
  t.notMatch(JSON.stringify(body), /Hidden/, what)
}

async function isOver (t: Test, retry: Retry, what: string, gone: string): Promise<void> {
  saysNothing(t, await retry(), what)
  saysNothing(t, await retry(), `${what}, again`)
  await service.parts.positions.reached('leads', await service.parts.streams.head(), 10_000)
  t.strictSame((await call('GET', `/user/leads?search=${encodeURIComponent(gone)}`)).body.data, [], `${what}: no lead`)
  await hasNothingOf(t, service, gone)
}

for (const [what, send] of Object.entries(requests)) {
  t.test(`${what}: the answer was kept`, async (t) => {
    const gone = numberOf(++count)
    const retry = await send(`kept ${what}`, gone)
    const during = async () => saysNothing(t, await retry(), `${what}, meanwhile`)
    await erase(gone, { leads: during, named: during, calls: during, ledger: during, scavenge: during })
    await isOver(t, retry, what, gone)
  })

  t.test(`${what}: the answer was lost`, async (t) => {
    const gone = numberOf(++count)
    const retry = await send(`lost ${what}`, gone)
    await lost(`lost ${what}`)
    await erase(gone)
    await isOver(t, retry, what, gone)
  })
}
