// What tells of persons in every way, for tests that erase them, and what is to be left of it.
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { connectionTo } from '../back-ends/scratch-event-store.js'
import { callReport, newAssistant, newLead } from '../bodies/bodies.js'
import { call as reported } from '../events/call-events.js'
import type { TestService } from '../service.js'
import type { Teardown } from '../teardown.js'
import { haveCome } from './have-come.js'
import { sender, type Sent } from './sent.js'

export interface Named { phone_number: string, variables: object }
interface Lead { id: number, secondary_contacts: Array<{ id: number }> }
interface Left { status?: string, contacts?: Named[], user?: string }

export async function toldOf (t: Teardown, service: TestService): Promise<ToldOf> {
  const sent = await sender(service)
  const raw = new EventLog(connectionTo(t, service.urls.eventStoreUrl))
  return new ToldOf(sent, raw, (await sent.dataOf('POST', '/user/assistant', newAssistant())).id)
}

/** Of user 1, but for leads of others. */
export class ToldOf {
  #count = 0

  constructor (readonly sent: Sent, private readonly raw: Streams, private readonly assistantId: number) {}

  async lead (person: Named, secondary_contacts: Named[] = [], more: object = {}, user = '1'): Promise<Lead> {
    return await this.sent.dataOf('POST', '/user/lead', newLead({ ...person, secondary_contacts, ...more }), user)
  }

  async call (given: object): Promise<string> {
    const id = `http-${++this.#count}`
    await this.sent.dataOf('POST', `/engine/calls/${id}/completed`, callReport(this.assistantId, given))
    return id
  }

  /** As an engine appends it: plain. */
  async plainCall (given: object): Promise<string> {
    const id = `event-${++this.#count}`
    const data = reported(id, { assistant_id: this.assistantId, ...given })
    await this.raw.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
    return id
  }

  async areErased (t: Test, { leads = [], calls = [] }: { leads?: Lead[], calls?: string[] }): Promise<void> {
    const { sent, sent: { service, service: { parts: { pool } } } } = this
    await haveCome(service)
    for (const { id } of leads) t.equal((await service.call('GET', `/user/lead/${id}`)).status, 404, `lead ${id}`)
    for (const id of calls) {
      const call = await sent.dataOf('GET', `/user/call/${id}`)
      t.match(call, { erased: true, from: null, to: null, transcript: null }, id)
      t.strictSame(await sent.typesOf(callStream(id)), ['CallErased'], `${id} is erased once`)
      const { rows } = await pool.query('SELECT body FROM ledger.webhook_deliveries WHERE call_id = $1', [id])
      t.strictSame(rows, [{ body: null }], `${id} has one delivery, without a body`)
    }
  }

  /** With these contacts, of all that it had. */
  async stays (t: Test, { id }: Lead, named: Named, left: Left = {}): Promise<void> {
    const { status = 'created', contacts = [], user = '1' } = left
    const data = await this.sent.dataOf('GET', `/user/lead/${id}`, undefined, user)
    t.match(data, { ...named, status, secondary_contacts: contacts }, `lead ${id} stays`)
    t.equal(data.secondary_contacts.length, contacts.length, `contacts of lead ${id}`)
  }
}
