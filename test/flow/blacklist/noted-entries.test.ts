// A command reads the log only for numbers that may have an entry. Whatever Postgres has lost, no entry is passed over.
import t from 'tap'
import { notedEntries } from '../../../projections/blacklist.js'
import { eventually } from '../../support/eventually.js'
import { caller } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '300' })
const { call, parts: { pool, streams } } = service
let projector = await service.start(['projector'])
await eventually(async () => (await call('GET', '/user/campaigns')).body.data?.length > 0)
let last = 15558200000
const newNumber = () => `+${++last}`
const list = (phone_number: string) => call('POST', '/user/blacklist', { phone_number })
const lead = (phone_number: string) => ({ phone_number, campaign_id: 1, allow_dupplicate: true })
const isShown = async (number: string) => (await call('GET', '/user/blacklist?limit=100')).body.data.some(
  ({ phone_number }: { phone_number: string }) => phone_number === number)
const isRefused = { status: 422, body: { errors: { phone_number: ['is on your do-not-call list'] } } }

t.test('a stream may have an entry once it was noted, before there is an event', async (t) => {
  const { note, mayHaveEntry } = notedEntries(pool, async () => true)
  t.strictSame(await mayHaveEntry(['blacklist-a', 'blacklist-b']), [])
  await note('blacklist-b')
  await note('blacklist-b')
  t.strictSame(await mayHaveEntry(['blacklist-a', 'blacklist-b']), ['blacklist-b'])
})

t.test('every stream may have one while the read model has not passed what the log held at the start', async (t) => {
  const { mayHaveEntry } = notedEntries(pool, async () => false)
  t.strictSame(await mayHaveEntry(['blacklist-c', 'blacklist-d']), ['blacklist-c', 'blacklist-d'])
})

t.test('an entry that cannot be noted is not appended', async (t) => {
  const number = newNumber()
  const before = await streams.head()
  await pool.query('ALTER TABLE ledger.noted_entries RENAME TO noted_elsewhere')
  const failed = await list(number).finally(() => pool.query('ALTER TABLE ledger.noted_elsewhere RENAME TO noted_entries'))
  t.equal(failed.status, 503)
  t.equal(await streams.head(), before)
  t.equal((await call('POST', '/user/lead', lead(number))).status, 200)
  t.equal((await list(number)).status, 201)
  t.match(await call('POST', '/user/lead', lead(number)), isRefused)
})

t.test('notes that were lost: the read model knows the entries', async (t) => {
  const number = newNumber()
  await list(number)
  await eventually(() => isShown(number))
  await pool.query('TRUNCATE ledger.noted_entries')
  t.match(await call('POST', '/user/lead', lead(number)), isRefused)
})

t.test('notes that were lost while no read model goes on: a process that starts asks the log', async (t) => {
  const number = newNumber()
  await projector.stop()
  t.equal((await list(number)).status, 201)
  await pool.query('TRUNCATE ledger.noted_entries')
  const second = await service.start(['api'])
  const answer = await caller(second.url)('POST', '/user/lead', { token: await service.token('1'), body: lead(number) })
  t.match(answer, isRefused)
  projector = await service.start(['projector'])
  await eventually(() => isShown(number))
})
