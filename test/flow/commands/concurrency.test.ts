// Many requests at once, over two APIs: nothing twice, nothing lost.
import t from 'tap'
import { testService } from '../../support/service.js'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { eventsAfter } from '../../support/back-ends/scratch-event-store.js'
import { type Answer, caller, type Call } from '../../support/running-service.js'

const service = await testService(t)
const { streams } = service.parts
const user = await service.token('1')
const apiAt = (url: string): { call: Call } => {
  const send = caller(url)
  return { call: (method, path, request) => send(method, path, { token: user, ...request }) }
}
const apis = [apiAt(service.url), apiAt((await service.start(['api'])).url)] as const
for (const { call } of apis) {
  await eventually(async () => (await call('POST', '/user/assistant', { body: newAssistant() })).status === 201)
}

/** So many requests at once, to both in turn. */
async function atOnce (
  count: number, method: string, path: string, body: (index: number) => object
): Promise<Answer[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => {
    const { call } = apis[index % apis.length] ?? apis[0]
    return call(method, path, { body: body(index) })
  }))
}

const statuses = (answers: Answer[]) => Object.fromEntries([...new Set(answers.map(({ status }) => status))].sort()
  .map((status) => [status, answers.filter((answer) => answer.status === status).length]))
const ids = (answers: Answer[]) => answers.flatMap(({ body: { data } }) => data ? [data.id] : [])

t.test('20 identical leads at once are one lead', async (t) => {
  const before = await streams.head()
  const answers = await atOnce(20, 'POST', '/user/lead', () => newLead({ phone_number: '+15551230500' }))
  t.strictSame(statuses(answers), { 200: 1, 422: 19 })
  for (const { status, body } of answers) {
    if (status === 422) t.strictSame(Object.keys(body.errors ?? {}), ['phone_number'])
  }
  const [lead] = ids(answers)
  const { body } = await eventually(async () => {
    const found = await apis[0].call('GET', '/user/leads?phone_number=%2B15551230500')
    return Array.isArray(found.body.data) && found.body.data.length > 0 && found
  }) || { body: {} }
  t.match(body.data, [{ id: lead }])
  t.match(body, { meta: { total: 1 } }, 'one row')
  t.equal((await eventsOf('lead-', before)).length, 1, 'one event')
})

t.test('where duplicates are allowed, all 20 are leads of their own', async (t) => {
  const answers =
    await atOnce(20, 'POST', '/user/lead', () => newLead({ phone_number: '+15551230501', allow_dupplicate: true }))
  t.strictSame(statuses(answers), { 200: 20 })
  t.equal(new Set(ids(answers)).size, 20)
})

t.test('20 updates of different fields at once all stand, one revision each', async (t) => {
  const changes = [
    ['assistant_name', 'Changed'], ['voice_id', 2], ['llm_model', 'gpt-4o-mini'], ['calls_direction', 'make'],
    ['engine_type', 'multimodal'], ['timezone', 'Europe/Paris'], ['initial_message', 'Changed'],
    ['system_prompt', 'Changed'], ['endpoint_type', 'ai'], ['endpoint_sensitivity', 1], ['interrupt_sensitivity', 1],
    ['ambient_sound_volume', 1], ['post_call_evaluation', false], ['min_interrupt_words', 3], ['llm_temperature', 1],
    ['voice_stability', 1], ['speech_speed', 1.1], ['allow_interruptions', false], ['max_call_duration', 700],
    ['record_call', true]
  ] as const
  const [first] = apis
  const id = (await first.call('POST', '/user/assistant', { body: newAssistant() })).body.data?.id
  const answers =
    await atOnce(changes.length, 'PUT', `/user/assistant/${id}`, (index) => Object.fromEntries([changes[index] ?? []]))
  t.strictSame(statuses(answers), { 200: 20 })
  t.strictSame(
    answers.map(({ headers }) => Number(headers.get('etag')?.slice(1, -1))).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, index) => index + 1)
  )
  const entries: Array<{ revision: number, changes: Array<{ field: string, to: unknown }> }> = []
  await eventually(async () => {
    const { body } = await first.call('GET', `/user/assistant/${id}/history?per_page=100`)
    entries.splice(0, Infinity, ...body.data)
    return entries.length > changes.length
  })
  t.strictSame(entries.map(({ revision }) => revision), Array.from({ length: 21 }, (_, index) => 20 - index))
  t.strictSame(
    Object.fromEntries(entries.slice(0, -1).flatMap((entry) => entry.changes).map(({ field, to }) => [field, to])),
    Object.fromEntries(changes)
  )
})

async function eventsOf (prefix: string, position: bigint) {
  return (await eventsAfter(service.client, position)).filter(({ stream }) => stream.startsWith(prefix))
}
