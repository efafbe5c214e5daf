// An erasure whose worker ends at each of its steps, and within them: it is done all the same, and once.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import type { Turn } from '../../../workers/work/kind.js'
import type { ErasureProgress } from '../../../workers/persons/erasures.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { passing } from '../../support/persons/erasing.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts, token } = service
const { pool, streams } = parts
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const log = { info () {}, warn () {} }

async function person (phone_number: string) {
  const lead = (await call('POST', '/user/lead', newLead({ phone_number }))).body.data
  const contact = { phone_number, variables: {} }
  const holder = (await call('POST', '/user/lead', newLead({ phone_number: phone_number + '0', secondary_contacts: [contact] }))).body.data
  const callId = `of-${lead.id}`
  const headers = { authorization: `Bearer ${await token('engine', 'engine')}` }
  await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant, { from: phone_number, lead_id: lead.id }), { headers })
  return { lead, holder, callId }
}

async function isErased ({ lead, holder, callId }: Awaited<ReturnType<typeof person>>) {
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [])
  t.match((await call('GET', `/user/call/${callId}`)).body.data, { erased: true, from: null })
  t.match((await streams.read(callStream(callId))).map(({ type }) => type), ['CallErased'])
  const { rows } = await pool.query('SELECT status, body FROM ledger.webhook_deliveries WHERE call_id = $1', [callId])
  t.match(rows, [{ body: null }])
}

t.test('a worker that ends before or after anything that it does or keeps is followed by one that goes on', async (t) => {
  const phoneNumber = '+15557654361'
  const known = await person(phoneNumber)
  let kept: Partial<ErasureProgress> = {}
  const failed = new Set<string>()
  const kind = passing({
    connections: parts,
    log,
    pass (point) {
      const name = `${kept.round} ${kept.step}, ${point}`
      if (failed.size < failed.add(name).size) throw new Error('the worker ends here')
    }
  })
  const turn: Turn<ErasureProgress> = {
    signal: new AbortController().signal,
    isOver: () => false,
    async keep (progress) { kept = progress }
  }
  const request = {
    id: randomUUID(), kind: 'person-erasure', userId: '1', input: seal(parts.keys, '1', phoneNumber), failures: 0, createdAt: new Date()
  }
  await eventually(async () => {
    const ended = await kind.work({ ...request, progress: kept }, turn).catch((error: Error) => error.message)
    return typeof ended === 'object' && ended.state === 'completed'
  })
  for (const what of ['an append', 'a truncation', 'the end of the key', 'the scavenge', 'what is kept']) {
    t.ok(['before', 'after'].every((when) => [...failed].some((name) => name.includes(`${when} ${what}`))), what)
  }
  await isErased(known)
})
