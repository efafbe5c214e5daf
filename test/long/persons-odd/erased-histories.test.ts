// Random histories with persons who are erased in between: the rows of readers are what a fold of the log gives, at the
// end and after a replay, and nobody who was erased is in them.
import t, { type Test } from 'tap'
import { seedOf, seeded } from '@ringledger/embedded-postgres/testing'
import { secrets } from '../../support/auth/secrets.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { dataDir, run } from '../../support/ringledger.js'
import { newAssistant, testService } from '../../support/service.js'

const steps = 1_000
t.setTimeout(1_800_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool } } = service
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const random = seeded(seedOf('CHAOS_SEED'))
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
const numbers = Array.from({ length: 6 }, (_, n) => `+1555333000${n}`)

/** And of those who are called for them: contacts. */
const leads: number[] = []
const called: number[] = []
const requests: string[] = []
let count = 0
/** Of each person there is something that nobody else has, and that changes. */
const variables = (number: string) => ({ customer_name: `Ada ${number.slice(-4)} ${++count}`, email: '' })
const contact = (phone_number = pick(numbers)) => ({ phone_number, variables: variables(phone_number) })

async function erase (phone_number: string): Promise<string> {
  const { status, body } = await call('POST', '/user/person/erase', { phone_number })
  if (status !== 202) throw new Error(`an erasure was answered ${status}: ${JSON.stringify(body)}`)
  return body.data.id
}

const know = (lead: { id: number, secondary_contacts: { id: number }[] } | undefined) => {
  if (lead) called.push(lead.id, ...lead.secondary_contacts.map(({ id }) => id))
}

/** What is refused, as the lead is erased or the number listed, is part of the history. */
const ways: Record<string, () => Promise<unknown>> = {
  async create () {
    const [lead, ...secondary_contacts] = Array.from({ length: 1 + Math.floor(random() * 3) }, () => contact())
    const body = newLead({ ...lead, secondary_contacts, allow_dupplicate: true })
    const { body: { data } } = await call('POST', '/user/lead', body)
    if (data) leads.push(data.id)
    know(data)
  },
  async update () {
    const changes = random() < 0.5 ? { variables: variables('9999') } : { secondary_contacts: [contact()] }
    know((await call('PUT', `/user/lead/${pick(leads)}`, changes)).body.data)
  },
  status: () => call('PUT', `/user/lead/${pick(leads)}`, { status: pick(['created', 'completed']) }),
  remove: () => random() < 0.3 ? call('DELETE', `/user/lead/${pick(leads)}`) : Promise.resolve(),
  call () {
    const report = { from: pick(numbers), lead_id: random() < 0.7 ? pick(called) : null }
    return call('POST', `/engine/calls/call-${++count}/completed`, callReport(assistant, report), engine)
  },
  list: () => random() < 0.3 ? call('POST', '/user/blacklist', { phone_number: pick(numbers) }) : Promise.resolve(),
  async unlist () {
    const { body: { data } } = await call('GET', '/user/blacklist')
    if (data.length > 0) await call('DELETE', `/user/blacklist/${pick<{ id: number }>(data).id}`)
  },
  async erase () {
    if (random() < 0.5) requests.push(await erase(pick(numbers)))
  }
}

const env = {
  ...secrets,
  DATABASE_URL: service.urls.databaseUrl,
  EVENTSTORE_URL: service.urls.eventStoreUrl,
  DATA_DIR: dataDir(t)
}
async function isFold (t: Test, when: string): Promise<void> {
  for (const name of ['leads', 'calls']) {
    const { code, stdout, stderr } = await run(t, ['projections', 'verify', name], env)
    t.equal(code, 0, `${name}, ${when}: ${stdout}${stderr}`)
  }
}

t.test('rows are the fold of the log', async (t) => {
  await ways.create?.()
  for (let step = 0; step < steps; step++) {
    const way = pick(Object.keys(ways))
    await ways[way]?.()
  }
  for (const number of numbers.slice(0, 3)) {
    requests.push(await erase(number))
  }
  t.comment(`${requests.length} erasures, ${leads.length} leads`)
  for (const id of requests) {
    await eventually(async () => (await call('GET', `/user/person-request/${id}`)).body.data.status === 'completed')
  }
  await isFold(t, 'after erasures')
  for (const name of ['leads', 'calls']) {
    const { code, stderr } = await run(t, ['projections', 'replay', name], env)
    t.equal(code, 0, stderr)
  }
  await isFold(t, 'after a replay')
  for (const number of numbers.slice(0, 3)) {
    const { rows: [left] } = await pool.query(`
      SELECT (SELECT count(*) FROM read_model.leads WHERE phone_number = $1 OR variables::text LIKE $2)::integer AS leads,
        (SELECT count(*) FROM read_model.calls WHERE summary::text LIKE '%' || $1 || '%')::integer AS calls`,
    [number, `%Ada ${number.slice(-4)} %`])
    t.strictSame(left, { leads: 0, calls: 0 }, number)
  }
})
