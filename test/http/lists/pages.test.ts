// Page behind page by `after`: every list and history, however many rows it has and however large they are.
import t from 'tap'
import { refusal, told } from '../../support/scenes/scenes.js'
import { documentedOperations, pathsWithIds } from '../../support/http/openapi.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t)
const { call } = service
const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
const get = (path: string, user = '1') => call('GET', path, undefined, { user, ...(path.startsWith('/ops/') && { headers }) })
const { id } = (await call('POST', '/user/assistant', newAssistant)).body.data
for (const assistant_name of ['Night desk', 'Day desk']) await call('PUT', `/user/assistant/${id}`, { assistant_name })
for (const phone_number of ['+15551230100', '+15551230101', '+15551230102']) {
  await call('POST', '/user/lead', { phone_number, campaign_id: 1 })
}
const withId = await pathsWithIds(service, id)
const lists = (await documentedOperations(service)).filter(({ query }) => 'after' in query)
  .map(({ path }) => withId(path))

/** Everything that a list holds, with what each page says of itself. */
async function walk (path: string, user = '1') {
  const pages: Array<{ data: object[], meta: Record<string, unknown> }> = []
  for (let after: unknown = ''; after !== null; after = pages.at(-1)?.meta.next) {
    const { status, body } = await get(`${path}&after=${String(after)}`, user)
    if (status !== 200) throw new Error(JSON.stringify(body))
    pages.push(body)
  }
  return { pages, items: pages.flatMap(({ data }) => data) }
}

t.test('every list with pages by number has pages by cursor', async (t) => {
  const numbered = (await documentedOperations(service)).filter(({ query }) => 'page' in query)
  t.equal(lists.length, numbered.length)
  t.ok(lists.length >= 10)
})

t.test('walked by cursor, a list holds what its pages by number hold', async (t) => {
  for (const path of lists) {
    const whole = (await get(`${path}?per_page=100`)).body
    t.equal(whole.meta.next, null)
    for (const per_page of [1, 2, 100]) {
      const { pages, items } = await walk(`${path}?per_page=${per_page}`)
      t.strictSame(items, whole.data, `${path} by ${per_page}`)
      t.ok(pages.every(({ meta }) => Object.keys(meta).sort().join() === 'next,per_page'), 'nothing is counted')
    }
  }
})

t.test('a page by its number says where the next one begins', async (t) => {
  const [second] = (await get('/user/leads?per_page=1&page=2')).body.data
  const { next } = (await get('/user/leads?per_page=1')).body.meta
  t.strictSame((await get(`/user/leads?per_page=1&after=${next}`)).body.data, [second])
})

t.test('no item is missed or met twice while others are added', async (t) => {
  const before = (await get('/user/leads')).body.data
  const first = (await get('/user/leads?per_page=1&after=')).body
  await call('POST', '/user/lead', { phone_number: '+15551230199', campaign_id: 1 })
  const { items } = await walk('/user/leads?per_page=1')
  t.strictSame(items.slice(1), before)
  t.strictSame((await get(`/user/leads?after=${first.meta.next}`)).body.data, before.slice(1))
})

t.test('a cursor that is not one of the list is refused, and so is one beside a page number', async (t) => {
  const ours = async (path: string): Promise<string> => (await get(`${path}?per_page=1`)).body.meta.next
  const lead = await ours('/user/leads')
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const parts: unknown[] = JSON.parse(Buffer.from(lead, 'base64url').toString())
  const with3 = (at: string, key: string) => encoded([...parts.slice(0, 2), at, key])
  const time = '2026-01-31T12:00:00.000000Z'
  t.equal((await get(`/user/leads?after=${with3(time, '9223372036854775807')}`)).status, 200, 'shaped like ours')
  const refused = [
    await ours(`/user/assistant/${id}/history`), await ours('/user/assistants/voices'), `${lead}=`, `${lead}A`,
    lead.slice(1), encoded(parts.with(0, 2)), encoded([...parts, '1']), encoded(parts.slice(0, -1)), encoded({}),
    with3('2026-02-30T12:00:00.000000Z', '1'), with3('2026-01-31T24:00:00.000000Z', '1'), with3('infinity', '1'),
    with3(time, '9223372036854775808'), with3(time, '-1'), with3(time, 'x'), encoded([...parts.slice(0, 3), 1])
  ]
  const words = ['must be the meta.next of a page of this list, or empty']
  for (const after of refused) {
    t.strictSame(told(await get(`/user/leads?after=${after}`)), refusal({ after: words }), after)
  }
  for (const after of ['', lead]) {
    const answer = told(await get(`/user/leads?page=1&after=${after}`))
    t.strictSame(answer, refusal({ after: ['must not be given together with page'] }))
  }
  t.strictSame(Object.keys((await get('/user/leads?after=x&per_page=0')).body.errors).sort(), ['after', 'per_page'])
})

const large = () => Buffer.alloc(300 * 1024, 'x').toString('latin1')

t.test('a history of large changes comes in pages of at most 1 MiB, each entry with its former value', async (t) => {
  const user = '3'
  const { id } = (await call('POST', '/user/assistant', newAssistant, { user })).body.data
  for (const letter of 'abcd') {
    await call('PUT', `/user/assistant/${id}`, { system_prompt: letter + large() }, { user })
  }
  const { pages, items } = await walk(`/user/assistant/${id}/history?per_page=100`, user)
  t.ok(pages.length > 1 && pages.every((page) => JSON.stringify(page).length < 2 ** 20))
  const told = items.slice(0, 3).map((item) => Reflect.get(item, 'changes'))
    .map(([{ field, from, to }]) => [field, from[0], to[0]])
  t.strictSame(told, [['system_prompt', 'c', 'd'], ['system_prompt', 'b', 'c'], ['system_prompt', 'a', 'b']])
  t.strictSame(items.map((item) => Reflect.get(item, 'revision')), [4, 3, 2, 1, 0])
})
