// Small events that change large rows, a whole batch of them at once, in a process with a small heap.
import { assistants } from '../../../projections/assistants.js'
import { generationConsumer } from '../../../projections/engine/feed.js'
import { leads } from '../../../projections/leads.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { openPool } from '../../../src/postgres/pool.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import {
  assistantCreated, assistantUpdated, callCompleted, leadCreated, logOf, type Told
} from '../../support/events/call-events.js'
import { commitEvents } from '../../support/events/appender.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', kind = '', count = '', bytes = ''] = process.argv.slice(2)
const pool = openPool(databaseUrl, { applicationName: 'large-rows-main', onError: () => {} })
const consumers = {
  assistants: generationConsumer(assistants, 1, pool),
  leads: generationConsumer(leads, 1, pool),
  dispatcher: dispatcher({ pool, firstDelayMs: 0, wake () {}, log: { warn: () => {} } })
}
const consumer = await consumers[kind as keyof typeof consumers].open()
const place = logOf()

async function feed (...told: Told[]): Promise<void> {
  const events: StoredEvent[] = place(told)
  await commitEvents(consumer, events, pool)
}

const ids = Array.from({ length: Number(count) }, (_, index) => index + 2)
const large = () => Buffer.alloc(Number(bytes), 'x').toString('latin1')
const webhook = { is_webhook_active: true, webhook_url: 'https://hooks.example.com/calls' }

/** A lead with a large variable. */
function largeLead (id: number): Told {
  const { data, ...rest } = leadCreated(id, 1)
  return { ...rest, data: { ...data, variables: { customer_name: '', email: '', notes: large() } } }
}

if (kind === 'assistants') {
  for (const id of ids) await feed(assistantCreated(id, { system_prompt: large() }))
  await feed(...ids.map((id) => assistantUpdated(id, { record_call: true })))
} else {
  await feed(assistantCreated(1, webhook))
  for (const id of ids) await feed(largeLead(id))
  await feed(...ids.map((id) => callCompleted(`c-${id}`, { lead_id: id })))
}
process.stdout.write(`${JSON.stringify({ changed: ids.length })}\n`)
process.exit()
