// Requests for persons whose work broke off, failed, or is not known any more.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { personRequestStream } from '../../../src/features/persons/events.js'
import {
  beginExport, type ExportWork, personExports, readExport
} from '../../../workers/persons/exports.js'
import { giveTurn } from '../../../workers/work/run.js'
import { erasureKind, exportKind, mostOfUser, preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { eventually } from '../../support/eventually.js'
import { newLead } from '../../support/bodies/bodies.js'
import { testService } from '../../support/service.js'

const { call, parts } = await testService(t)
const { pool, streams } = parts
const phone_number = '+15557654321'
const warned: string[] = []
const log = { warn (_details: object, message: string) { warned.push(message) }, info () {} }
const work = { ...parts, sources: ['leads', 'calls'] }
const { signal } = new AbortController()

const ask = async (): Promise<string> => (await call('POST', '/user/person/export', { phone_number })).body.data.id
const statusOf = async (id: string) => (await call('GET', `/user/person-request/${id}`)).body.data.status
const kindsOn = (on: ExportWork) => ({ [exportKind]: personExports(on) })
const work1 = (id: string, on: ExportWork = work) =>
  giveTurn({ pool, kinds: kindsOn(on), holder: 'test', turnMs: 2_000, retryMs: 1, signal, log }, id)
const untilDone = (id: string) => eventually(async () => {
  await work1(id)
  return await statusOf(id) === 'completed'
})

t.test('one that broke off after its document was written is done again, and ends once', async (t) => {
  const id = await ask()
  t.equal((await call('GET', `/user/person-request/${id}/download`)).status, 409)
  let tries = 0
  const append = async () => {
    tries += 1
    throw new Error('the process ends here')
  }
  await eventually(async () => {
    await work1(id, { ...work, streams: { ...streams, append } })
    return tries > 0
  })
  t.equal(await statusOf(id), 'processing')
  await untilDone(id)
  t.equal((await streams.read(personRequestStream(id))).length, 2)
  t.match((await call('GET', `/user/person-request/${id}/download`)).body, { phone_number, leads: [] })
})

t.test('one that fails again and again is given up, in words without the number', async (t) => {
  const id = await ask()
  const find = () => { throw new Error('cannot be read') }
  await eventually(async () => {
    await work1(id, { ...work, find })
    return await statusOf(id) === 'failed'
  })
  t.equal(warned.filter((message) => message === 'a request in the background is tried again').length, 13)
  t.equal((await call('GET', `/user/person-request/${id}/download`)).status, 410)
})

t.test('a copy is not made without events of the person that are parked, and names them', async (t) => {
  const parkedNumber = '+15557654322'
  const { body } = await call('POST', '/user/lead', newLead({ phone_number: parkedNumber }))
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.leads WHERE id = $1', [body.data.id])
  const bad = { id: randomUUID(), type: 'LeadUpdated', data: { bad: 1 }, metadata: { schema_version: '1' } }
  const { position } = await streams.append(stream, [bad], (await streams.last(stream))?.revision ?? -1n)
  await eventually(async () =>
    (await pool.query("SELECT FROM ledger.parked_events WHERE consumer LIKE 'read\\_leads%'")).rowCount === 1)
  const read = await call('GET', `/user/lead/${body.data.id}`, undefined, { headers: { 'x-read-position': String(position) } })
  t.match([read.status, read.body.message], [503, /waits for an operator/], 'and no read passes for one of that event')
  const id: string = (await call('POST', '/user/person/export', { phone_number: parkedNumber })).body.data.id
  const waiting = await eventually(async () => {
    await work1(id)
    const { data } = (await call('GET', `/user/person-request/${id}`)).body
    return data.waits_for !== undefined && data
  })
  t.match(waiting, {
    status: 'processing',
    waits_for: `parked events, which an operator retries or skips (ringledger projections quarantine): ${stream}`
  })
})

t.test('one that this database does not know any more has failed', async (t) => {
  const id = randomUUID()
  const data = {
    person_request_id: id, user_id: '1', type: 'export', number_digest: '0'.repeat(32), requested_at: '2026-01-01T00:00:00.000Z'
  }
  const event = { id: randomUUID(), type: 'PersonRequested', data, metadata: { schema_version: '1' } }
  await streams.append(personRequestStream(id), [event], -1n)
  t.equal(await statusOf(id), 'failed')
})

t.test('a user asks for so many at once, others for theirs', async (t) => {
  const prepare = (kind: 'export' | 'erasure', id: string = randomUUID()) =>
    preparePersonRequest(pool, work.keys, kind, { id, userId: '7', phoneNumber: phone_number })
  const fill = (kind: string, count: number) => pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input) SELECT gen_random_uuid(), $1, '7', 'accepted', '{}'
    FROM generate_series(1, $2)`, [kind, count])
  await fill(exportKind, mostOfUser - 5)
  const asked = await Promise.all(Array.from({ length: 15 }, () => prepare('export')))
  t.equal(asked.filter((isTaken) => isTaken).length, 5, 'also at the same time')
  const { status, headers } = await call('POST', '/user/person/export', { phone_number }, { user: '7' })
  t.match([status, headers.get('retry-after')], [429, '10'])
  const erasure = randomUUID()
  await prepare('erasure', erasure)
  await pool.query("UPDATE ledger.work SET state = 'completed' WHERE id = $1", [erasure])
  await fill(erasureKind, mostOfUser)
  t.ok(await prepare('erasure', erasure), 'a retry of one that was taken is not refused')
  const erasing = await call('POST', '/user/person/erase', { phone_number }, { user: '7' })
  t.match([erasing.status, erasing.headers.get('retry-after')], [429, '10'])
  t.equal((await call('POST', '/user/person/export', { phone_number }, { user: '8' })).status, 202)
})

t.test('a long document is kept in parts, and read as it was written', async (t) => {
  const place = { id: randomUUID(), userId: '1' }
  await preparePersonRequest(pool, work.keys, 'export', { ...place, phoneNumber: phone_number })
  const pieces = Array.from({ length: 40 }, (_, nth) => `${nth} ${'é'.repeat(20_000)}`)
  await inTransaction(pool, async (tx) => {
    const { write, end } = await beginExport(tx, work.keys, place)
    for (const piece of pieces) await write(piece)
    await end()
  })
  const read = []
  for await (const part of readExport(pool, work.keys, place)) read.push(part)
  t.ok(read.length > 2)
  t.equal(read.join(''), pieces.join(''))
  await pool.query('DELETE FROM ledger.person_exports WHERE request_id = $1 AND part = 1', [place.id])
  await t.rejects(async () => { for await (const part of readExport(pool, work.keys, place)) t.ok(part) }, { code: 'gone' })
})
