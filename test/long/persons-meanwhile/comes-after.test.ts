// What comes while a person is erased, in any step: a lead, a contact of another's lead, a call. In the end each is
// erased with the others, or came after them and is whole: for callers, for the dispatcher, for who repeats the
// request, and for receivers of webhooks.
import t, { type Test } from 'tap'
import { keyTrustedMs } from '../../../src/privacy/person-keys.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import type { Answer } from '../../support/running-service.js'
import { erasing } from '../../support/persons/erasing.js'
import { haveCome } from '../../support/persons/persons.js'
import { receiver } from '../../support/receivers/receiver.js'
import { numberOf, webhookService } from '../../support/scenes/scenes.js'

t.setTimeout(180_000)
const service = await webhookService(t)
const { call, create, parts: { pool } } = service
const hook = await receiver(t)
const assistant = await create(hook.url)
const erase = erasing(service, {}, keyTrustedMs)
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
/** The second round is the last one, unless something comes in it. */
const steps = [
  'settle', 'leads', 'named', 'calls', 'key', '2 leads', '2 named', '2 calls', 'ledger', 'scavenge', 'done'
] as const
type Fate = 'whole' | 'erased'
let count = 0

interface Sent { answer: Answer, again (): Promise<Answer> }
/** Sent with a key of its own. */
async function send (path: string, body: object): Promise<Sent> {
  const headers = { 'idempotency-key': `${path} ${++count}` }
  const again = async () => await call('POST', path, body, { headers })
  const answer = await again()
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return { answer, again }
}

async function reported (report: { from: string, lead_id: number }): Promise<string> {
  const id = `meanwhile-${++count}`
  const { status } = await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, report), { user: 'engine' })
  if (status !== 202) throw new Error(`${id}: ${status}`)
  return id
}

async function isRepeated (t: Test, { answer, again }: Sent, fate: Fate, what: string): Promise<void> {
  const { status, headers, body } = await again()
  if (fate === 'erased') return void t.equal(status, 422, `${what}: a retry is refused`)
  t.strictSame([status, headers.get('idempotent-replayed'), body], [answer.status, 'true', answer.body], `${what}: a retry`)
}

const numbersOf = async (ids: number[]) => (await pool.query<{ phone_number: string }>(
  'SELECT phone_number FROM ledger.dispatch_leads WHERE id = ANY ($1)', [ids])).rows.map((row) => row.phone_number)

async function leadIsOneOrTheOther (t: Test, what: string, sent: Sent, callId: string, gone: string): Promise<Fate> {
  const { id } = sent.answer.body.data
  const { status, body } = await call('GET', `/user/lead/${id}`)
  const fate = status === 200 ? 'whole' : 'erased'
  if (fate === 'whole') t.match(body.data, { phone_number: gone, variables }, what)
  else t.equal(status, 404, what)
  t.strictSame(await numbersOf([id]), [fate === 'whole' ? gone : ''], `${what}: what the dispatcher knows`)
  await isRepeated(t, sent, fate, what)
  const { body: { data: ofCall } } = await call('GET', `/user/call/${callId}`)
  t.match(ofCall, fate === 'whole' ? { from: gone, lead_id: id } : { erased: true, from: null }, `${what}: its call`)
  if (fate === 'whole') {
    await eventually(() => hook.received.some(({ body }) => body.includes(callId)))
    const webhook = JSON.parse(String(hook.received.find(({ body }) => body.includes(callId))?.body))
    t.match(webhook.data, { from: gone, lead: { id, phone_number: gone, variables } }, `${what}: the webhook of its call`)
  }
  return fate
}

async function contactIsOneOrTheOther (t: Test, what: string, sent: Sent, gone: string): Promise<Fate> {
  const { id, secondary_contacts: [{ id: contact }] } = sent.answer.body.data
  const { data } = (await call('GET', `/user/lead/${id}`)).body
  const fate = data.secondary_contacts.length === 1 ? 'whole' : 'erased'
  if (fate === 'whole') t.match(data.secondary_contacts, [{ id: contact, phone_number: gone, variables }], what)
  t.strictSame(await numbersOf([contact]), [fate === 'whole' ? gone : ''], `${what}: what the dispatcher knows`)
  await isRepeated(t, sent, fate, what)
  return fate
}

t.test('a lead, a call of it, and a contact', async (t) => {
  const fates = await Promise.all(steps.map(async (step) => {
    const gone = numberOf(++count)
    await send('/user/lead', newLead({ phone_number: gone, variables }))
    let come: { lead: Sent, holder: Sent, callId: string } | undefined
    await erase(gone, {
      async [step] () {
        const lead = await send('/user/lead', newLead({ phone_number: gone, variables, allow_dupplicate: true }))
        const person = { phone_number: gone, variables }
        const holder = await send('/user/lead', newLead({ phone_number: numberOf(++count), secondary_contacts: [person] }))
        come = { lead, holder, callId: await reported({ from: gone, lead_id: lead.answer.body.data.id }) }
      }
    })
    if (!come) throw new Error(`it did not come to ${step}`)
    await haveCome(service)
    const { lead, holder, callId } = come
    const fate = await leadIsOneOrTheOther(t, `a lead at ${step}`, lead, callId, gone)
    return [step, fate, await contactIsOneOrTheOther(t, `a contact at ${step}`, holder, gone)]
  }))
  t.comment(JSON.stringify(fates))
  t.match(fates.find(([step]) => step === 'leads'), ['leads', 'erased', 'erased'])
  t.match(fates.find(([step]) => step === 'done'), ['done', 'whole', 'whole'])
})
