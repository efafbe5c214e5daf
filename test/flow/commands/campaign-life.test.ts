// Campaigns over HTTP: created, read, renamed, deleted; and what becomes of their leads.
import t from 'tap'
import { importCatalog } from '../../../src/cli/catalog.js'
import { importingOn } from '../../support/commands/handle-on.js'
import { readScene, timestamp } from '../../support/http/read-scene.js'

const { service, call, get } = await readScene(t)
const { streams } = service.parts
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const create = async (name: string) => (await call('POST', '/user/campaign', { name })).body.data.id

t.test('a campaign is created, read and listed, by its owner alone', async (t) => {
  const { status, body, headers } = await call('POST', '/user/campaign', { name: 'Spring', colour: 'green' })
  t.equal(status, 201)
  t.equal(body.message, 'Campaign created successfully')
  t.strictSame(Object.keys(body.data), ['id', 'name', 'created_at', 'updated_at'])
  t.match(body.data, { name: 'Spring', created_at: timestamp, updated_at: timestamp })
  t.equal(headers.get('etag'), '"0"')
  t.equal(headers.get('x-ignored-fields'), 'colour')
  t.match(headers.get('x-read-position'), /^\d+$/)
  const { id } = body.data
  t.strictSame((await get(`/user/campaign/${id}`)).body, { data: body.data })
  t.match((await get('/user/campaigns')).body.data[0], { id, name: 'Spring' })
  t.equal((await get(`/user/campaign/${id}`, '2')).status, 404)
  t.notMatch((await get('/user/campaigns', '2')).body.data, [{ id }])
})

t.test('a name of 1 to 255 characters is required', async (t) => {
  const id = await create('Spring')
  for (const body of [{}, { name: '' }, { name: ' ' }, { name: 'x'.repeat(256) }, { name: 1 }, { name: null }, { name: 'a\u0000' }]) {
    for (const [method, path] of [['POST', '/user/campaign'], ['PUT', `/user/campaign/${id}`]] as const) {
      const answer = await call(method, path, body)
      t.equal(answer.status, 422, JSON.stringify([method, body]))
      t.same(Object.keys(answer.body.errors), ['name'])
    }
  }
  t.equal((await call('POST', '/user/campaign', { name: 'x'.repeat(255) })).status, 201)
})

t.test('the same key gives the first answer again, and one campaign', async (t) => {
  const post = () => call('POST', '/user/campaign', { name: 'Once' }, keyed('campaign-once'))
  const first = await post()
  await call('PUT', `/user/campaign/${first.body.data.id}`, { name: 'Later' })
  const again = await post()
  t.strictSame(again.body, first.body)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test('a campaign is renamed at the revision that If-Match names; its leads show the name', async (t) => {
  const id = await create('Spring')
  const lead = (await call('POST', '/user/lead', { phone_number: '+15557770001', campaign_id: id })).body.data
  const at = (revision: number) => ({ headers: { 'if-match': `"${revision}"` } })
  t.equal((await call('PUT', `/user/campaign/${id}`, { name: 'Summer' }, at(7))).status, 412)
  const { status, body, headers } = await call('PUT', `/user/campaign/${id}`, { name: 'Summer' }, at(0))
  t.match(
    { status, body }, { status: 200, body: { message: 'Campaign updated successfully', data: { id, name: 'Summer' } } }
  )
  t.equal(headers.get('etag'), '"1"')
  t.equal((await get(`/user/campaign/${id}`)).headers.get('etag'), '"1"')
  const position = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  t.match((await call('GET', `/user/lead/${lead.id}`, undefined, position)).body.data.campaign, { id, name: 'Summer' })
  t.equal((await call('PUT', `/user/campaign/${id}`, { name: 'Mine' }, { user: '2' })).status, 404)
})

t.test('a deleted campaign is gone, takes no lead, and its leads keep its name', async (t) => {
  const id = await create('Farewell')
  const newLead = { phone_number: '+15557770002', campaign_id: id }
  const before = await call('POST', '/user/lead', newLead, keyed('lead-before'))
  t.equal((await call('DELETE', `/user/campaign/${id}`, undefined, { user: '2' })).status, 404)
  const deleted = await call('DELETE', `/user/campaign/${id}`, undefined, keyed('campaign-gone'))
  t.strictSame([deleted.status, deleted.body], [200, { message: 'Campaign deleted successfully' }])
  t.equal(deleted.headers.get('x-read-model'), null)
  for (const [method, sent] of [['GET', undefined], ['PUT', { name: 'Back' }], ['DELETE', undefined]] as const) {
    t.equal((await call(method, `/user/campaign/${id}`, sent)).status, 404, method)
  }
  const again = await call('DELETE', `/user/campaign/${id}`, undefined, keyed('campaign-gone'))
  t.strictSame([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
  t.notMatch((await get('/user/campaigns')).body.data, [{ id }])
  const refused = await call('POST', '/user/lead', { ...newLead, phone_number: '+15557770003' })
  t.strictSame([refused.status, refused.body.errors], [422, { campaign_id: ['must be one of your campaigns'] }])
  const lead = (await get(`/user/lead/${before.body.data.id}`)).body.data
  t.match(lead.campaign, { id, name: 'Farewell' })
  t.match((await get(`/user/leads?campaign_id=${id}`)).body.data, [{ id: lead.id, campaign: { id, name: 'Farewell' } }])
  const replayed = await call('POST', '/user/lead', newLead, keyed('lead-before'))
  t.strictSame([replayed.status, replayed.body], [200, before.body], 'what was answered under a key stays')
  t.equal((await call('PUT', `/user/lead/${lead.id}`, { status: 'scheduled' })).status, 200)
})

t.test('an import undoes neither a user’s name nor a deletion, and brings what it says anew', async (t) => {
  const catalog = (...names: string[]) => importCatalog(importingOn(streams), {
    users: [{ id: 1, campaigns: names.map((name, at) => ({ id: 8_000 + at, name })) }]
  })
  const name = async (id: number, position: bigint) =>
    (await call('GET', `/user/campaign/${id}`, undefined, { headers: { 'x-read-position': String(position) } })).body.data?.name
  await catalog('One', 'Two')
  t.equal(await name(8_000, await streams.head()), 'One')
  await call('PUT', '/user/campaign/8000', { name: 'Mine' })
  await call('DELETE', '/user/campaign/8001')
  const head = await streams.head()
  await catalog('One', 'Two')
  t.equal(await streams.head(), head, 'nothing is appended')
  await catalog('Three', 'Four')
  const after = await streams.head()
  t.strictSame([await name(8_000, after), await name(8_001, after)], ['Three', undefined])
})
