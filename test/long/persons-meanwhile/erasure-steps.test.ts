// An erasure whose worker ends at each of its steps, and within them: it is done all the same, and once.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { seal, type SealedRow } from '../../../src/privacy/sealed-text.js'
import type { BackgroundKind, Turn } from '../../../workers/work/kind.js'
import { type ErasureProgress, erasures } from '../../../workers/persons/erasures.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts } = service
const { pool, streams } = parts
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id

async function person (phone_number: string) {
  const lead = (await call('POST', '/user/lead', newLead({ phone_number }))).body.data
  const contact = { phone_number, variables: {} }
  const holder = (await call('POST', '/user/lead', newLead({ phone_number: phone_number + '0', secondary_contacts: [contact] }))).body.data
  const callId = `of-${lead.id}`
  const report = callReport(assistant, { from: phone_number, lead_id: lead.id })
  await call('POST', `/engine/calls/${callId}/completed`, report, { user: 'engine' })
  return { lead, holder, callId }
}

async function isErased ({ lead, holder, callId }: Awaited<ReturnType<typeof person>>) {
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [])
  t.match((await call('GET', `/user/call/${callId}`)).body.data, { erased: true, from: null })
  const ofCall = await streams.read(callStream(callId))
  t.strictSame(ofCall.map(({ type, revision }) => [type, revision]), [['CallErased', 1n]], 'once')
  const { rows } = await pool.query('SELECT status, body FROM ledger.webhook_deliveries WHERE call_id = $1', [callId])
  t.match(rows, [{ body: null }])
}

/** An erasure that lets `pass` in before and after all that it does to the outside. */
function passing (pass: (at: string) => void): BackgroundKind<SealedRow, ErasureProgress> {
  const around = <Given extends unknown[], Answer> (name: string, work: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      pass(`before ${name}`)
      const answer = await work(...given)
      pass(`after ${name}`)
      return answer
    }
  const { personKeys } = parts
  const kind = erasures({
    ...parts,
    streams: {
      ...streams,
      append: around('an append', streams.append),
      truncate: around('a truncation', streams.truncate),
      scavenge: around('the scavenge', streams.scavenge)
    },
    personKeys: Object.assign(Object.create(personKeys), {
      erase: around('the end of the key', (userId: string, phoneNumber: string) => personKeys.erase(userId, phoneNumber))
    }),
    log: { warn () {} },
    settleMs: 50
  })
  return {
    ...kind,
    work: (request, turn) => kind.work(request, {
      ...turn,
      keep: (kept, write) => around(`what is kept, ${kept.round} ${kept.step}`, turn.keep)(kept, write)
    }),
    finish: around('its end', kind.finish ?? (async () => {}))
  }
}

t.test('a worker that ends before or after anything that it does or keeps is followed by one that goes on', async (t) => {
  const phoneNumber = '+15557654361'
  const known = await person(phoneNumber)
  let kept: Partial<ErasureProgress> = {}
  const failed = new Set<string>()
  const kind = passing((point) => {
    const name = `${kept.round} ${kept.step}, ${point}`
    if (failed.size < failed.add(name).size) throw new Error('the worker ends here')
  })
  const turn: Turn<ErasureProgress> = {
    signal: new AbortController().signal,
    isOver: () => false,
    async keep (progress) { kept = progress }
  }
  const request = {
    id: randomUUID(), kind: 'person-erasure', userId: '1', input: seal(parts.keys, '1', phoneNumber), failures: 0
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
