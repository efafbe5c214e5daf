// A do-not-call entry is sealed in the log, and holds also once its key was erased.
import { FORWARDS } from '@eventstore/db-client'
import t from 'tap'
import { collect } from '../support/back-ends/scratch-event-store.js'
import { newLead } from '../support/bodies/bodies.js'
import { caller } from '../support/running-service.js'
import { testService } from '../support/service.js'

const { call, client, start, token, parts: { pool, personKeys, streams } } = await testService(t)
const phone_number = '+15557790001'
const reason = 'A hidden reason'
const entries = async () => (await pool.query<{ stream: string }>('SELECT stream FROM read_model.blacklist')).rows
const bytesOf = async (stream: string) => JSON.stringify((await collect(client.readStream(stream, {
  direction: FORWARDS
}))).map(({ event }) => event?.data))

t.test('neither number nor reason are in its events, and its user reads both', async (t) => {
  const { body: { data: entry } } = await call('POST', '/user/blacklist', { phone_number, reason })
  t.match(entry, { phone_number, reason })
  const [{ stream } = { stream: '' }] = await entries()
  t.notMatch(await bytesOf(stream), /779000|hidden/)
  t.match((await call('GET', '/user/blacklist')).body.data, [entry])
  t.match(await call('POST', '/user/lead', newLead({ phone_number })), { status: 422 })
  t.equal((await call('DELETE', `/user/blacklist/${entry.id}`)).status, 200)
  t.notMatch(await bytesOf(stream), /779000|hidden/)
  t.match(await call('POST', '/user/lead', newLead({ phone_number })), { status: 200 })
})

t.test('without its key the number is still not called, in every process', async (t) => {
  const { body: { data: { id } } } = await call('POST', '/user/blacklist', { phone_number, reason })
  t.equal(await personKeys.erase('1', phone_number), true)
  const [{ stream } = { stream: '' }] = await entries()
  t.match(
    (await streams.read(stream)).at(-1), { type: 'PhoneNumberBlacklisted', data: { phone_number: null, reason: null } }
  )
  const other = await start(['api'])
  const send = async (method: string, path: string, body?: object) =>
    await caller(other.url)(method, path, { token: await token('1'), body })
  const body = newLead({ phone_number, allow_dupplicate: true })
  t.match(await send('POST', '/user/lead', body), { status: 422 })
  t.equal((await send('DELETE', `/user/blacklist/${id}`)).status, 200, 'its user may end it')
  t.match((await streams.read(stream)).at(-1), { type: 'PhoneNumberUnblacklisted', data: { blacklist_id: id } })
  t.match(await send('POST', '/user/lead', body), { status: 200 })
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
})
