// Whatever order entries and leads come in, in whatever processes: nobody with a listed number is callable in the end,
// and none is answered as callable after the entry was answered.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { caller, untilReady } from '../../support/running-service.js'
import { type TestService, testService } from '../../support/service.js'
import { randomUUID } from 'node:crypto'

/**
 * Another process of the API, held between what it looks up for a command and its append: each of its commands has a
 * key, and waits to claim it, until `release`. Nothing that commands without a key need is locked.
 */
async function heldAtClaim ({ start, parts: { pool }, token }: TestService) {
  const { url } = await start(['api'])
  await untilReady(url)
  const send = caller(url)
  const locker = await pool.connect()
  await locker.query('BEGIN; LOCK TABLE ledger.idempotency_keys IN SHARE MODE')
  let sent = 0
  return {
    async send (method: string, path: string, body: object) {
      sent += 1
      return await send(method, path, { token: await token('1'), body, headers: { 'idempotency-key': randomUUID() } })
    },
    /** Resolves when all that were sent wait. */
    waiting: () => eventually(async () => (await pool.query(
      "SELECT FROM pg_locks WHERE NOT granted AND relation = 'ledger.idempotency_keys'::regclass")).rowCount === sent),
    async release () {
      await locker.query('ROLLBACK')
      locker.release()
    }
  }
}

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '300' })
const { call } = service
let projector = await service.start(['projector'])
await untilReady(service.url)
let last = 15558000000
const newNumber = () => `+${++last}`
const numbered = (phone_number: string) => ({ phone_number })
const list = (phone_number: string) => call('POST', '/user/blacklist', { phone_number })
const read = async (id: number, position: string | null) =>
  (await call('GET', `/user/lead/${id}`, undefined, { headers: { 'x-read-position': position ?? '' } })).body.data
const people = (lead: { secondary_contacts: object[] }) => [lead, ...lead.secondary_contacts] as Person[]
interface Person { phone_number: string, status: string }

t.test('an entry between the look at the list and the append of a lead or a change: both are answered as blacklisted', async (t) => {
  const [number, later, changed] = [newNumber(), newNumber(), newNumber()]
  const lead = (await call('POST', '/user/lead', { phone_number: changed, campaign_id: 1 })).body.data
  const { send, waiting, release } = await heldAtClaim(service)
  const answers = [
    send('POST', '/user/lead', { phone_number: number, campaign_id: 1 }),
    send('POST', '/user/lead', { phone_number: later, campaign_id: 1, secondary_contacts: [numbered(number)] }),
    send('PUT', `/user/lead/${lead.id}`, { status: 'scheduled', secondary_contacts: [numbered(number)] })
  ]
  await waiting()
  const entries = [await list(number), await list(changed)]
  await release()
  for (const { status, headers, body: { data } } of await Promise.all(answers)) {
    t.equal(status, 200)
    for (const { phone_number, status } of people(data)) t.equal(status, phone_number === later ? 'created' : 'blacklisted')
    t.strictSame(await read(data.id, headers.get('x-read-position')), data)
  }
  const deleted = await call('DELETE', `/user/blacklist/${entries[1]?.body.data.id}`)
  const now = await read(lead.id, deleted.headers.get('x-read-position'))
  t.strictSame(people(now).map(({ status }) => status), ['scheduled', 'blacklisted'], 'what its user gave it meanwhile')
})

t.test('entries, leads, changes and deletions at once, in two processes, end with nobody callable', async (t) => {
  const second = await service.start(['api'])
  await untilReady(second.url)
  const [token, send] = [await service.token('1'), caller(second.url)]
  const elsewhere = (method: string, path: string, body?: object) => send(method, path, { token, body })
  for (let round = 0; round < 8; round++) {
    const [number, free] = [newNumber(), newNumber()]
    const { id } = (await call('POST', '/user/lead', { phone_number: free, campaign_id: 1 })).body.data
    const deletion = async () => {
      const { body } = await list(number)
      await elsewhere('DELETE', `/user/blacklist/${body.data.id}`)
      return await list(number)
    }
    const [entry, ...answers] = await Promise.all([
      deletion(),
      elsewhere('POST', '/user/lead', { phone_number: number, campaign_id: 1 }),
      call('POST', '/user/lead', { phone_number: number, campaign_id: 1, allow_dupplicate: true }),
      elsewhere('PUT', `/user/lead/${id}`, { status: 'scheduled', secondary_contacts: [numbered(number)] })
    ])
    const positions = [entry, ...answers].map(({ headers }) => BigInt(headers.get('x-read-position') ?? 0))
    const newest = String(positions.reduce((one, other) => one > other ? one : other))
    for (const { status, body } of answers) {
      t.ok([200, 422].includes(status))
      if (status !== 200) continue
      const ours = people(await read(body.data.id, newest)).filter(({ phone_number }) => phone_number === number)
      t.strictSame(ours.map(({ status }) => status), ['blacklisted'])
    }
    const refused = await call('POST', '/user/lead', { phone_number: number, campaign_id: 1, allow_dupplicate: true })
    t.match(refused, { status: 422, body: { errors: { phone_number: ['is on your do-not-call list'] } } })
  }
})

// A command reads the log only for numbers that may have an entry. Whatever Postgres has lost, no entry is passed over.
const { pool, streams } = service.parts
const lead = (phone_number: string) => ({ phone_number, campaign_id: 1, allow_dupplicate: true })
const isShown = async (number: string) => (await call('GET', '/user/blacklist?limit=100')).body.data.some(
  ({ phone_number }: { phone_number: string }) => phone_number === number)
const isRefused = { status: 422, body: { errors: { phone_number: ['is on your do-not-call list'] } } }

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
