// Persons whom a user knows while read models are replayed and led back: what has to be true of every generation once
// they are erased.
import type { Test } from 'tap'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { hasNothingOf, haveCome } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { newAssistant, type TestService } from '../../support/service.js'
import { randomUUID } from 'node:crypto'
import type { Projection } from '../../../projections/engine/projection.js'
import { ReplayRefused, type BuildOptions, verify } from '../../../projections/engine/replay.js'
import { rollback, replay } from '../../../projections/engine/operations.js'
import { openSealing } from '../../../src/services/connections.js'
import { EventLog } from '../../../src/log/event-log.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import type { Teardown } from '../../support/teardown.js'

const webhook = { is_webhook_active: true, webhook_url: 'https://hooks.example.com/calls' }
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
let count = 0

export interface ReadPerson {
  gone: string
  lead: { id: number }
  /** Of the contact. */
  holder: { id: number }
  calls: string[]
}

export async function generationScene (service: TestService) {
  const { call } = service
  const assistant = (await call('POST', '/user/assistant', { ...newAssistant, ...webhook })).body.data.id
  return {
    /** A lead, a contact, and a call of each; that of the contact names nothing but its id. */
    async person (): Promise<ReadPerson> {
      const gone = numberOf(++count)
      const known = { phone_number: gone, variables }
      const lead = (await call('POST', '/user/lead', newLead(known))).body.data
      const holding = newLead({ phone_number: numberOf(++count), secondary_contacts: [known] })
      const holder = (await call('POST', '/user/lead', holding)).body.data
      const reports = {
        [`lead-${count}`]: { from: gone, lead_id: lead.id },
        [`contact-${count}`]: { from: 'anonymous', lead_id: holder.secondary_contacts[0].id }
      }
      for (const [id, given] of Object.entries(reports)) {
        await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, given), { user: 'engine' })
        await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
      }
      return { gone, lead, holder, calls: Object.keys(reports) }
    },
    isGone: (t: Test, person: ReadPerson, when: string) => isGone(t, service, person, when),
    /** What readers see, of all that there is. */
    async isAsLogged (t: Test, when: string) {
      t.strictSame(await differences(service.parts), [], `what readers see is what the log says, ${when}`)
    }
  }
}

/** For readers, and in every generation and table. */
async function isGone (t: Test, service: TestService, person: ReadPerson, when: string): Promise<void> {
  const { call, parts } = service
  const { gone, lead, holder, calls: callIds } = person
  const { pool } = parts
  await haveCome({ parts })
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404, when)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [], when)
  for (const id of callIds) {
    t.match((await call('GET', `/user/call/${id}`)).body.data, { erased: true, from: null }, when)
  }
  const { rows: bodies } = await pool.query(
    'SELECT call_id FROM ledger.webhook_deliveries WHERE call_id = ANY ($1) AND body IS NOT NULL', [callIds])
  t.strictSame(bodies, [], `no webhook has a body, ${when}`)
  await hasNothingOf(t, service, gone)
}

async function differences ({ pool, streams }: TestService['parts']) {
  const { signal } = new AbortController()
  const options = { pool, consumerPool: pool, streams, holder: 'verification', signal, log: keepingLog() }
  const compared = await Promise.all([leads, calls].map((projection) => verify(projection, options)))
  return compared.flatMap((each) => each.differences)
}

export function generationsOf (t: Teardown, { config, parts, urls }: TestService) {
  const connection = connectionTo(t, urls.eventStoreUrl)
  /** @returns why it was refused, if so */
  const both = (work: (projection: Projection, options: BuildOptions) => Promise<unknown>) => async () => {
    const { streams } = openSealing(new EventLog(connection), parts.pool, config)
    const { pool, consumerPool } = parts
    const holder = `test ${randomUUID()}`
    const options = { pool, consumerPool, streams, holder, signal: new AbortController().signal, log: keepingLog() }
    const refused = await Promise.all([leads, calls].map((projection) => work(projection, options)
      .then(() => [], (error: unknown) => {
        if (!(error instanceof ReplayRefused)) throw error
        return [error.message]
      })))
    return refused.flat()
  }
  return {
    /** Swapped in also where rows differ from those that readers see. */
    replayed: both((projection, options) => replay(projection, { ...options, acceptDifferences: true })),
    rolledBack: both(rollback)
  }
}
