// What a command refers to may be newer than the read models: then nobody is told that it does not exist.
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { appender } from '../../support/events/appender.js'
import { campaign } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { type Answer, caller } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '300' })
const { start, parts: { streams } } = service
const [token, engine] = [await service.token('1'), await service.token('engine', 'engine')]
let send = caller(service.url)
const call = (method: string, path: string, body?: object) => send(method, path, { token, body })
const append = appender(streams)

const projector = await start(['projector'])
await eventually(async () => (await call('POST', '/user/assistant', newAssistant())).status === 201)
await projector.stop()

const assistant: number = (await call('POST', '/user/assistant', newAssistant())).body.data.id
const lead: number = (await call('POST', '/user/lead', newLead())).body.data.id
const told = (stream: string, type: string, data: object) => ({ stream, type, data })
await append(
  campaign('CampaignCreated', 700, 'New'),
  told('phonenumber-700', 'PhoneNumberAdded', { phone_number_id: 700, user_id: '1', phone_number: '+15551237000' })
)
const voices = await streams.read('catalog-voices')
const languages = await streams.read('catalog-languages')
const proposed = (type: string, data: object) => [{ id: crypto.randomUUID(), type, data, metadata: {} }]
await streams.append('catalog-voices', proposed('VoiceAdded', { id: 700, name: 'New' }), BigInt(voices.length - 1))
await streams.append('catalog-languages', proposed('LanguageAdded', { name: 'Newish' }), BigInt(languages.length - 1))

const report = (callId: string, given: object): Promise<Answer> =>
  send('POST', `/engine/calls/${callId}/completed`, { token: engine, body: callReport(assistant, given) })

/** Each request, with an id that exists though the read models do not have it yet, and with one that does not. */
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
  ...[['voice_id', 700, 999_999], ['language', 'Newish', 'Older'], ['phone_number_id', 700, 999_999]].map(
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

t.test('while the read models are late, what they lack is a 503, whether it exists or not', async (t) => {
  for (const { field, isThere, isNot } of requests) {
    isNotYet(t, await isThere(), field)
    isNotYet(t, await isNot(), field)
  }
  isNotYet(t, await call('POST', `/user/assistant/${assistant}/webhook-resume`), 'the assistant of a path')
})

t.test('a body that is wrong by itself is refused all the same', async (t) => {
  const { status, body } = await call('POST', '/user/lead', newLead({ campaign_id: 700, phone_number: '5' }))
  t.equal(status, 422)
  t.strictSame(Object.keys(body.errors), ['phone_number'])
})

t.test('once they are level with the log, what exists is accepted and only the rest is a 422', async (t) => {
  await start(['projector'], { READ_MODEL_WAIT_MS: '10000' })
  send = caller((await start(['api'], { READ_MODEL_WAIT_MS: '10000' })).url)
  for (const { field, status, isThere, isNot } of requests) {
    t.equal((await isThere()).status, status, field)
    const refused = await isNot()
    t.equal(refused.status, 422, field)
    t.strictSame(Object.keys(refused.body.errors), [field])
  }
})
