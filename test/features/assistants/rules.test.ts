// Rules that look at more than one field of an assistant, or at what is stored, over HTTP.
import t from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { assistantCaller, brief, refusal, told } from '../../support/http/http-assistant.js'
import { testService } from '../../support/service.js'

const service = await testService(t, undefined, { READ_MODEL_WAIT_MS: '20000' }) // many writes at once
const { call } = service
const { create, update, seen } = assistantCaller(service)
const idOf = async (given: object = {}): Promise<number> => (await create(newAssistant(given))).body.data.id

const [storedUrl, otherUrl] = ['https://example.com/stored', 'https://example.com/other']
const urls = [undefined, null, otherUrl]
const flags = [undefined, true, false]
const missing = refusal({ webhook_url: ['is required when is_webhook_active is true'] })
interface Webhook { webhook_url: string | null, is_webhook_active: boolean }

/** The rule, written without the code: a missing field stays, null switches off, and an active webhook has a URL. */
function merged (stored: Webhook, url: string | null | undefined, flag: boolean | undefined): Webhook | 'refused' {
  const webhook_url = url === undefined ? stored.webhook_url : url
  const is_webhook_active = flag ?? (url === null ? false : stored.is_webhook_active)
  return is_webhook_active && webhook_url === null ? 'refused' : { webhook_url, is_webhook_active }
}

const webhookOf = ({ settings: { webhook_url, is_webhook_active } }: { settings: Record<string, unknown> }) =>
  ({ webhook_url, is_webhook_active })

t.test('create: an active webhook has a URL, whatever else is given', async (t) => {
  for (const webhook_url of urls) {
    for (const is_webhook_active of flags) {
      const created = await create(newAssistant({ webhook_url, is_webhook_active }))
      const expected = merged({ webhook_url: null, is_webhook_active: false }, webhook_url, is_webhook_active)
      const title = brief({ webhook_url, is_webhook_active })
      if (expected === 'refused') t.strictSame(told(created), missing, title)
      else t.strictSame(webhookOf(await seen(created)), expected, title)
    }
  }
})

t.test('update: the webhook rule holds for the stored and the given fields together', async (t) => {
  const storedBefore: Webhook[] = [
    { webhook_url: null, is_webhook_active: false },
    { webhook_url: storedUrl, is_webhook_active: false },
    { webhook_url: storedUrl, is_webhook_active: true }
  ]
  const given = urls.flatMap((webhook_url) => flags.map((is_webhook_active) => ({ webhook_url, is_webhook_active })))
  await Promise.all(storedBefore.flatMap((stored) => given.map(async (body) => {
    const created = await create(newAssistant(stored))
    const updated = await update(created.body.data.id, body)
    const expected = merged(stored, body.webhook_url, body.is_webhook_active)
    const isRefused = expected === 'refused'
    const title = `${brief(stored)} <- ${brief(body)}`
    if (isRefused) t.strictSame(told(updated), missing, title)
    t.strictSame(webhookOf(await seen(isRefused ? created : updated)), isRefused ? stored : expected, title)
  })))
})

t.test('a URL that was stored under other rules is refused only where it is given', async (t) => {
  const lenient = await service.start(['api'], { WEBHOOK_ALLOW_HTTP: 'true' })
  const response = await fetch(`${lenient.url}/user/assistant`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await service.token('1')}`, 'content-type': 'application/json' },
    body: JSON.stringify(newAssistant({ webhook_url: 'http://example.com/hook' }))
  })
  t.equal(response.status, 201)
  const { data: { id } } = await response.json() as { data: { id: number } }
  const refused = await update(id, { webhook_url: 'http://example.com/hook' })
  t.strictSame(told(refused), refusal({ webhook_url: ['must be an absolute https URL'] }))
  for (const body of [{ assistant_name: 'Night desk' }, { is_webhook_active: true }, { is_webhook_active: false }]) {
    t.equal((await update(id, body)).status, 200, brief(body))
  }
})

t.test('several assistants may have one phone number; null takes it away, and absence keeps it', async (t) => {
  const [one, other] = [await idOf({ phone_number_id: 1 }), await idOf({ phone_number_id: 1 })]
  t.equal((await seen(await update(one, { assistant_name: 'x' }))).settings.phone_number_id, 1)
  t.equal((await seen(await update(one, { phone_number_id: null }))).settings.phone_number_id, null)
  t.equal((await seen(await update(other, {}))).settings.phone_number_id, 1, 'of the other it stays')
})

t.test('objects and arrays are replaced whole', async (t) => {
  const id = await idOf({ variables: { a: { b: 1, c: 2 } }, end_call_tool: { description: 'x' } })
  const { settings } = await seen(await update(id, { variables: { a: { d: 3 } }, end_call_tool: {} }))
  t.strictSame([settings.variables, settings.end_call_tool], [{ a: { d: 3 } }, {}])
})

t.test('a summary has the five documented keys, and says what the settings mean', async (t) => {
  const said = { receive: 'inbound', make: 'outbound' }
  for (const [calls_direction, type] of Object.entries(said)) {
    for (const mode of ['pipeline', 'multimodal']) {
      const created = await create(newAssistant({ calls_direction, engine_type: mode, assistant_name: 'Grüezi 👋' }))
      const data = { id: created.body.data.id, name: 'Grüezi 👋', status: 'active', type, mode }
      t.strictSame(told(created), { status: 201, body: { message: 'Assistant created successfully', data } })
      const updated = await update(data.id, { assistant_name: 'x' })
      const body = { message: 'Assistant updated successfully', data: { ...data, name: 'x' } }
      t.strictSame(told(updated), { status: 200, body })
      const { settings, revision, created_at, updated_at, webhook, ...summary } =
        (await call('GET', `/user/assistant/${data.id}`)).body.data
      t.strictSame(summary, updated.body.data, 'a read has the same summary')
    }
  }
})

t.test('the settings of any assistant can be sent back as they are: 200, and nothing is appended', async (t) => {
  const kinds = [
    {}, { is_webhook_active: true, webhook_url: storedUrl }, { end_call_tool: {} },
    { end_call_tool: { description: '' } }, { post_call_schema: [] },
    { phone_number_id: 2, variables: { a: [1.5, null, { b: '👋' }] }, timezone: 'US/Eastern' }
  ]
  for (const given of kinds) {
    const before = await seen(await create(newAssistant(given)))
    const id = await idOf(given)
    const updated = await update(id, before.settings)
    t.equal(updated.status, 200, brief(given))
    t.equal(updated.headers.get('etag'), '"0"')
    t.equal(updated.headers.get('x-ignored-fields'), null)
    t.equal((await call('GET', `/user/assistant/${id}/history`)).body.meta.total, 1)
  }
})

t.test('the ETag is the revision: one more with every update that changes something', async (t) => {
  const id = await idOf()
  const etags = []
  const [faster, ordered, reordered] = [{ speech_speed: 1.1 }, { b: 1, a: 2 }, { a: 2, b: 1 }]
  const bodies = [
    {}, faster, faster, { variables: ordered }, { variables: reordered }, { unknown: 1 }, { speech_speed: 1 }
  ]
  for (const body of bodies) etags.push((await update(id, body)).headers.get('etag'))
  t.strictSame(etags, ['"0"', '"1"', '"1"', '"2"', '"2"', '"2"', '"3"'])
  const { headers, body } = await call('GET', `/user/assistant/${id}`)
  t.strictSame([headers.get('etag'), body.data.revision], ['"3"', 3])
})

t.test('unknown fields are ignored at every depth, and named', async (t) => {
  const given = {
    colour: 'red',
    end_call_tool: { description: 'x', voice: 1 },
    post_call_schema: [{ name: 'a', type: 'bool', description: 'x', required: true }],
    variables: { free: { to: 'choose' } }
  }
  const created = await create(newAssistant(given))
  t.equal(created.headers.get('x-ignored-fields'), 'colour, end_call_tool.voice, post_call_schema.0.required')
  const { settings } = await seen(created)
  t.notOk('colour' in settings)
  const kept = [{ description: 'x' }, [{ name: 'a', type: 'bool', description: 'x' }], given.variables]
  t.strictSame([settings.end_call_tool, settings.post_call_schema, settings.variables], kept)
  const names = Array.from({ length: 200 }, (_, index) => [`${index}${'ä'.repeat(200)}`, 1])
  const many = (await update(created.body.data.id, Object.fromEntries(names))).headers.get('x-ignored-fields') ?? ''
  t.ok(many.length > 0 && many.length <= 2_048, 'no more than a client reads of a header')
})
