// Read models may be late. A command never answers that something newer does not exist. Every GET says how new it is
// (X-Read-Position), and is never older than it was asked to be.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../support/bodies/bodies.js'
import { appender } from '../support/events/appender.js'
import { campaign } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { type Answer, caller } from '../support/running-service.js'
import { testService } from '../support/service.js'

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '300' })
const { start, parts: { streams } } = service
const [token, engine] = [await service.token('1'), await service.token('engine', 'engine')]
let send = caller(service.url)
const call = (method: string, path: string, body?: object, position?: string | null, as = token) =>
  send(method, path, { token: as, body, headers: position == null ? {} : { 'x-read-position': position } })
const append = appender(streams)

const projector = await start(['projector'])
/** The read models have it, and nothing that is made later. */
const known: number = await eventually(async () => {
  const { status, headers, body } = await call('POST', '/user/assistant', newAssistant())
  return status === 201 && !headers.has('x-read-model') && body.data.id
})
await projector.stop()
let position: string | null = null

const assistant: number = (await call('POST', '/user/assistant', newAssistant())).body.data.id
const lead: number = (await call('POST', '/user/lead', newLead())).body.data.id
const told = (stream: string, type: string, data: object) => ({ stream, type, data })
await append(
  campaign('CampaignCreated', 700, 'New'),
  told('phonenumber-700', 'PhoneNumberAdded', { phone_number_id: 700, user_id: '1', phone_number: '+15551237000' })
)
const voices = await streams.read('catalog-voices')
const proposed = (type: string, data: object) => [{ id: randomUUID(), type, data, metadata: {} }]
await streams.append('catalog-voices', proposed('VoiceAdded', { id: 700, name: 'New' }), BigInt(voices.length - 1))

const report = (callId: string, given: object): Promise<Answer> =>
  send('POST', `/engine/calls/${callId}/completed`, { token: engine, body: callReport(assistant, given) })

/** Each request, with an id that exists but is not in the read models yet, and with one that does not exist. */
const requests: Array<{ field: string, status: number } & Record<'isThere' | 'isNot', () => Promise<Answer>>> = [
  {
    field: 'lead_id',
    status: 202,
    isThere: () => report('late-lead', { lead_id: lead }),
    isNot: () => report('no-lead', { lead_id: 999_999 })
  },
  {
    field: 'campaign_id',
    status: 200,
    isThere: () => call('POST', '/user/lead', newLead({ campaign_id: 700 })),
    isNot: () => call('POST', '/user/lead', newLead({ campaign_id: 999_999 }))
  },
  ...[['voice_id', 700, 999_999], ['phone_number_id', 700, 999_999]].map(
    ([field = '', there, not]) => ({
      field: String(field),
      status: 200,
      isThere: () => call('PUT', `/user/assistant/${assistant}`, { [field]: there }),
      isNot: () => call('PUT', `/user/assistant/${assistant}`, { [field]: not })
    }))
]

function isNotYet (t: Test, { status, headers, body }: Answer, field: string): void {
  t.equal(status, 503, field)
  t.match(headers.get('retry-after'), /^[1-9]\d*$/)
  t.strictSame(body, { message: 'The service is not available right now. Nothing was changed.' })
}

t.test('while the read models are late, a command with something that they lack is a 503, whether it exists or not', async (t) => {
  for (const { field, isThere, isNot } of requests) {
    isNotYet(t, await isThere(), field)
    isNotYet(t, await isNot(), field)
  }
  isNotYet(t, await call('POST', `/user/assistant/${assistant}/webhook-resume`), 'the assistant of a path')
})

t.test('while no projector runs a write is pending, and a read at its position is a 503, not an older state', async (t) => {
  const path = `/user/assistant/${known}`
  const { data: before } = (await call('GET', path)).body
  const pending = await call('PUT', path, { assistant_name: 'Pending' })
  t.match([pending.status, pending.headers.get('x-read-model')], [200, 'pending'])
  t.equal(pending.body.data.name, 'Pending', 'the answer is folded from the events')
  position = pending.headers.get('x-read-position')
  t.same((await call('GET', path)).body.data, before, 'without a position the older state is an answer')
  for (const of of [path, `${path}/history`]) t.equal((await call('GET', of, undefined, position)).status, 503)
})

t.test('once the read models have caught up, a command takes what exists, and only the rest is a 422', async (t) => {
  await start(['projector'], { READ_MODEL_WAIT_MS: '10000' })
  send = caller((await start(['api'], { READ_MODEL_WAIT_MS: '10000' })).url)
  for (const { field, status, isThere, isNot } of requests) {
    t.equal((await isThere()).status, status, field)
    const refused = await isNot()
    t.equal(refused.status, 422, field)
    t.strictSame(Object.keys(refused.body.errors), [field])
  }
})

const routes = [
  'assistants', 'leads', 'calls', 'assistants/voices', 'assistants/languages', 'assistants/models', 'campaigns',
  'phone-numbers', 'blacklist', `assistant/${known}`, `assistant/${known}/history`
]

t.test('a read at the position of a write waits for it in every projection, and says which position it has passed', async (t) => {
  t.equal((await call('GET', `/user/assistant/${known}`, undefined, position)).body.data.name, 'Pending')
  const history = await call('GET', `/user/assistant/${known}/history`)
  t.equal(history.body.data[0].changes[0].to, 'Pending', 'the history is as new as the assistant')
  const { headers } = await call('PUT', `/user/assistant/${known}`, { assistant_name: 'Renamed' })
  const written = headers.get('x-read-position')
  for (const route of routes) {
    const read = await call('GET', `/user/${route}`, undefined, written)
    t.equal(read.status, 200, route)
    const passed = BigInt(read.headers.get('x-read-position') ?? -1)
    t.ok(passed >= BigInt(written ?? -1) && passed <= await streams.head(), route)
  }
})

t.test('a position that is no position is refused by name, together with the query string', async (t) => {
  for (const position of ['x', '-1', '0x10', '9223372036854775808']) {
    const { status, body } = await call('GET', '/user/leads?page=0', undefined, position)
    t.equal(status, 422, position)
    t.same(Object.keys(body.errors), ['page', 'X-Read-Position'])
  }
})

t.test('a position that is not there yet is a 503, for every GET', async (t) => {
  const future = String(await streams.head() + 1_000_000n)
  send = caller(service.url) // it waits for less
  await Promise.all([...routes, 'lead/1', 'call/x'].map(async (route, nth) => {
    const asker = route.includes('/') ? token : await service.token(String(nth)) // three lists of a user are read at once
    const asked = route === 'leads' ? String(2n ** 63n - 1n) : future
    const { status, headers, body } = await call('GET', `/user/${route}`, undefined, asked, asker)
    t.strictSame([status, headers.get('retry-after'), Object.keys(body)], [503, '1', ['message']], route)
  }))
})
