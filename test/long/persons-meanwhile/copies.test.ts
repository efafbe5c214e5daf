// Copies of what is known of one person hold what another said, who answered calls for them: an erasure of the other
// leaves none of these, whether it was made before, or is made meanwhile. Copies that have nothing of the other stay.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { findPerson } from '../../../projections/persons.js'
import { exportKind } from '../../../workers/persons/erasure-rows.js'
import { preparePersonRequest } from '../../../workers/persons/erasure-rows.js'
import { type ExportWork, personExports, readExport } from '../../../workers/persons/exports.js'
import { acceptRequest, progressOf } from '../../../workers/work/requests.js'
import { giveTurn } from '../../../workers/work/run.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts, parts: { pool } } = service
const erase = erasing(service)
const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
let count = 0

interface Answered { asker: string, gone: string, callId: string }
/** The lead of one person, and a call of it that another answered. */
async function answered (): Promise<Answered> {
  const [asker, gone, callId] = [numberOf(++count), numberOf(++count), `answered-${count}`]
  const { body: { data: { id } } } = await call('POST', '/user/lead', newLead({ phone_number: asker }))
  const report = callReport(assistant, { from: gone, lead_id: id })
  const { status } = await call('POST', `/engine/calls/${callId}/completed`, report, { headers: engine })
  if (status !== 202) throw new Error(`${callId}: ${status}`)
  await eventually(async () => (await call('GET', `/user/call/${callId}`)).status === 200)
  return { asker, gone, callId }
}

const download = (id: string) => call('GET', `/user/person-request/${id}/download`)
const statusOf = async (id: string) => (await call('GET', `/user/person-request/${id}`)).body.data.status

async function copyOf (phone_number: string): Promise<string> {
  const { id } = (await call('POST', '/user/person/export', { phone_number })).body.data
  await eventually(async () => await statusOf(id) === 'completed', 20_000)
  return id
}

const callsIn = (copy: { calls: Array<{ call_id: string }> }) => copy.calls.map(({ call_id: id }) => id)
const keptParts = async (id: string) =>
  (await pool.query('SELECT FROM ledger.person_exports WHERE request_id = $1', [id])).rowCount

/** What is still there of a copy, as text. */
async function textOf (id: string): Promise<string> {
  if (await keptParts(id) === 0) return ''
  let text = ''
  for await (const part of readExport(pool, parts.keys, { id, userId: '1' })) text += part
  return text
}

/** A copy that another worker makes, and that has read all but the do-not-call entry of its snapshot. */
async function beingMade (phoneNumber: string): Promise<{ id: string, finish: () => Promise<void> }> {
  const id = randomUUID() // the worker of the service does not know its event
  await preparePersonRequest(pool, parts.keys, 'export', { id, userId: '1', phoneNumber })
  await acceptRequest(pool, id)
  let [mayEnd, hasRead] = [() => {}, () => {}]
  const ends = new Promise<void>((resolve) => { mayEnd = resolve })
  const read = new Promise<void>((resolve) => { hasRead = resolve })
  const requested_at = new Date().toISOString()
  const request = { person_request_id: id, user_id: '1', type: 'export', number_digest: '0'.repeat(32), requested_at }
  const event = { id, revision: 0n, position: 0n, type: 'PersonRequested', data: request, metadata: { schema_version: '1' } }
  const held: ExportWork = {
    ...parts,
    streams: {
      ...parts.streams,
      async visit (stream, _from, take) {
        take({ ...event, stream, created: new Date() })
        return true
      },
      append: async () => ({ revision: 1n, position: 1n })
    },
    find: (...given) => ({
      ...findPerson(...given),
      async blacklistEntry () {
        hasRead()
        await ends
        return null
      }
    })
  }
  const kinds = { [exportKind]: personExports(held) }
  const signal = AbortSignal.timeout(60_000)
  const log = { warn () {}, info () {} }
  const making = eventually(async () => {
    await giveTurn({ pool, kinds, holder: 'test', turnMs: 2_000, retryMs: 50, signal, log }, id)
    return await progressOf(pool, id) === undefined
  }, 60_000)
  await read
  return {
    id,
    async finish () {
      mayEnd()
      await making
    }
  }
}

async function isErased (t: Test, { gone, callId }: Answered): Promise<void> {
  t.match((await call('GET', `/user/call/${callId}`)).body.data, { erased: true, transcript: null })
  await hasNothingOf(t, service, gone)
}

t.test('a copy that was made before has calls that the other answered: it is removed, others stay', async (t) => {
  const [one, other] = [await answered(), await answered()]
  const [copy, unconcerned] = [await copyOf(one.asker), await copyOf(other.asker)]
  t.strictSame(callsIn((await download(copy)).body), [one.callId])
  await erase(one.gone)
  t.equal((await download(copy)).status, 410)
  t.equal(await keptParts(copy), 0)
  t.strictSame(callsIn((await download(unconcerned)).body), [other.callId], 'a copy without the person stays')
  t.equal(await statusOf(copy), 'completed')
  await isErased(t, one)
  const anew = await copyOf(one.asker)
  t.match((await download(anew)).body.calls, [{ call_id: one.callId, erased: true, transcript: null }])
  await erase(other.gone)
  t.equal((await download(anew)).status, 200, 'a call that was erased when it was made is no reason to remove it')
})

for (const step of ['leads', 'erase-calls', 'ledger'] as const) {
  t.test(`a copy that has read before the step ${step} ends before the erasure does`, async (t) => {
    const one = await answered()
    let copy: Awaited<ReturnType<typeof beingMade>> | undefined
    const begin = async () => { copy = await beingMade(one.asker) }
    await erase(one.gone, { [step]: begin, waits: async () => await copy?.finish() })
    t.equal(await keptParts(copy?.id ?? ''), step === 'ledger' ? 1 : 0, 'one of before the person was erased is removed')
    t.notMatch(await textOf(copy?.id ?? ''), `"from":"${one.gone}"`)
    await isErased(t, one)
  })
}
