// An erasure whose worker ends after each of its steps, and within them: it is done all the same, and once.
import t from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import type { Streams } from '../../../src/log/event-log.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import type { Turn } from '../../../workers/work/kind.js'
import { erasures, type ErasureProgress } from '../../../workers/persons/erasures.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts, token } = service
const { pool, streams } = parts
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const log = { warn () {} }

async function person (phone_number: string) {
  const lead = (await call('POST', '/user/lead', newLead({ phone_number }))).body.data
  const contact = { phone_number, variables: {} }
  const holder = (await call('POST', '/user/lead', newLead({ phone_number: phone_number + '0', secondary_contacts: [contact] }))).body.data
  const callId = `of-${lead.id}`
  const headers = { authorization: `Bearer ${await token('engine', 'engine')}` }
  await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant, { from: phone_number, lead_id: lead.id }), { headers })
  return { lead, holder, callId }
}

/** Does the work again and again, each time with what was kept last. */
async function workOn (phoneNumber: string, on: Streams, keep: (progress: ErasureProgress) => boolean) {
  const kind = erasures({ ...parts, streams: on, log, settleMs: 50 })
  const id = '5f0c1f9e-6a6b-4c1d-8f10-5a5f3c0f0a01'
  let kept: Partial<ErasureProgress> = {}
  const turn: Turn<ErasureProgress> = {
    signal: new AbortController().signal,
    isOver: () => false,
    async keep (progress) {
      if (!keep(progress)) throw new Error('the worker ends here')
      kept = progress
    }
  }
  const request = { id, kind: 'person-erasure', userId: '1', input: seal(parts.keys, '1', phoneNumber), failures: 0, createdAt: new Date() }
  for (let tries = 0; tries < 200; tries += 1) {
    const ended = await kind.work({ ...request, progress: kept }, turn).catch((error: Error) => error.message)
    if (typeof ended === 'object') return ended
  }
  throw new Error(`it does not end: ${JSON.stringify(kept)}`)
}

async function isErased ({ lead, holder, callId }: Awaited<ReturnType<typeof person>>) {
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [])
  t.match((await call('GET', `/user/call/${callId}`)).body.data, { erased: true, from: null })
  t.match((await streams.read(callStream(callId))).map(({ type }) => type), ['CallErased'])
  const { rows } = await pool.query('SELECT status, body FROM ledger.webhook_deliveries WHERE call_id = $1', [callId])
  t.match(rows, [{ body: null }])
}

t.test('a worker that ends after each step, before that is kept, repeats it', async (t) => {
  const known = await person('+15557654361')
  const lost = new Set<string>()
  const keep = ({ step, round }: ErasureProgress) => {
    const name = `${round} ${step}`
    return lost.size === lost.add(name).size
  }
  t.strictSame(await workOn('+15557654361', streams, keep), { state: 'completed' })
  t.ok(lost.size >= 10)
  await isErased(known)
})

t.test('a worker that ends between an event and what it hides goes on there', async (t) => {
  const known = await person('+15557654362')
  const failed = new Set<string>()
  const broken: Streams = {
    ...streams,
    async truncate (stream, before) {
      if (failed.size < failed.add(stream).size) throw new Error('the worker ends here')
      await streams.truncate(stream, before)
    }
  }
  t.strictSame(await workOn('+15557654362', broken, () => true), { state: 'completed' })
  t.ok(failed.size >= 1)
  await isErased(known)
})
