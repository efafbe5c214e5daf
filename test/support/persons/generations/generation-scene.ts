// Persons whom a user knows while read models are replayed and led back: what has to be true of every generation once
// they are erased.
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { calls } from '../../../../projections/calls.js'
import { activeGeneration } from '../../../../projections/generations/generations.js'
import { leads } from '../../../../projections/leads.js'
import { verifyAgainstLog } from '../../../../projections/replay/verify/verify.js'
import { callReport, newLead } from '../../bodies/bodies.js'
import { eventually } from '../../eventually.js'
import { haveCome } from '../have-come.js'
import { numberOf } from '../../scenes/imports.js'
import { newAssistant, type TestService } from '../../service.js'

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
  const { call, token } = service
  const engine = { headers: { authorization: `Bearer ${await token('engine', 'engine')}` } }
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
        await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, given), engine)
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
async function isGone (t: Test, { call, parts }: TestService, person: ReadPerson, when: string): Promise<void> {
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
  t.strictSame(await tablesWith(pool, gone), [], `no table has it, ${when}`)
}

/** A number is not part of a longer one. */
async function tablesWith (pool: Pool, number: string): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname LIKE 'read\\_%' OR schemaname = 'ledger'`)
  const found: string[] = []
  for (const { name } of tables) {
    const { rowCount } = await pool.query(
      `SELECT FROM ${name} AS found WHERE found::text ~ $1 LIMIT 1`, [`\\${number}(\\D|$)`])
    if (rowCount !== 0) found.push(name)
  }
  return found
}

async function differences ({ pool, streams }: TestService['parts']) {
  const { signal } = new AbortController()
  const verified = await Promise.all([leads, calls].map(async (projection) =>
    await verifyAgainstLog(projection, await activeGeneration(pool, projection), {}, { pool, streams, signal })))
  return verified.flatMap((each) => each.differences)
}
