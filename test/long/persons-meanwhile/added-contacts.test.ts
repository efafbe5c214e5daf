// A PUT adds the person as a contact of another's lead while they are erased, and a call names that contact by the id
// alone. In the end both are erased with the others, or came after them and are whole.
import t from 'tap'
import { keyTrustedMs } from '../../../src/privacy/person-keys.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { erasing } from '../../support/persons/erasing.js'
import { haveCome, hasNothingOf } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/imports.js'
import { webhookService } from '../../support/scenes/webhook-service.js'

t.setTimeout(180_000)
const service = await webhookService(t)
const { call, create } = service
const assistant = await create(null)
const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
const erase = erasing(service, {}, keyTrustedMs)
const steps = ['settle', 'leads', 'named', 'calls', '2 named', 'ledger', 'done'] as const
const elsewhere = numberOf(900)
let count = 0

async function dataOf (method: string, path: string, body?: object, headers = {}) {
  const answer = await call(method, path, body, { headers })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

t.test('a contact who is added, and a call of them', async (t) => {
  const fates = await Promise.all(steps.map(async (step, nth) => {
    const [gone, other] = [numberOf(++count), numberOf(++count)]
    await dataOf('POST', '/user/lead', newLead({ phone_number: gone }))
    const holder = await dataOf('POST', '/user/lead', newLead({ phone_number: other, secondary_contacts: [] }))
    const callId = `of-added-${nth}`
    let isCalled = false
    await erase(gone, {
      async [step] () {
        const changed = await dataOf('PUT', `/user/lead/${holder.id}`, { secondary_contacts: [{ phone_number: gone }] })
        const [added] = changed.secondary_contacts
        if (!added) return // readers came to it when the key that it was sealed under had ended
        isCalled = true
        const report = callReport(assistant, { from: elsewhere, lead_id: added.id })
        await dataOf('POST', `/engine/calls/${callId}/completed`, report, engine)
        await haveCome(service)
      }
    })
    await haveCome(service)
    const { secondary_contacts: contacts } = await dataOf('GET', `/user/lead/${holder.id}`)
    const fate = contacts.length === 0 ? 'erased' : 'whole'
    if (isCalled) {
      const { erased, from } = await dataOf('GET', `/user/call/${callId}`)
      t.strictSame([erased ?? false, from], fate === 'erased' ? [true, null] : [false, elsewhere],
        `a contact who is added at ${step} is ${fate}, and so is their call`)
    } else t.equal(fate, 'erased', `nobody sees a contact who is added at ${step}, whose key has ended`)
    if (fate === 'erased') await hasNothingOf(t, service, gone)
    return [step, fate]
  }))
  t.comment(JSON.stringify(fates))
  t.strictSame(fates.find(([step]) => step === 'named'), ['named', 'erased'])
  t.strictSame(fates.find(([step]) => step === 'done'), ['done', 'whole'])
})
