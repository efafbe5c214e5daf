// Rows are the fold of the log, whatever the history, the batches, the failures and the restarts were.
import fc from 'fast-check'
import t from 'tap'
import { assistants } from '../../projections/assistants.js'
import { calls } from '../../projections/calls.js'
import { leads } from '../../projections/leads.js'
import type { Projection } from '../../projections/projection.js'
import { evolve, type AssistantState } from '../../src/domain/assistant/evolve.js'
import { DecodeError, decode, type DomainEvent } from '../../src/domain/events.js'
import { leadOf } from '../../src/domain/lead/lead.js'
import { statusAfterCall } from '../../src/domain/lead/status-after-call.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, logOf, type Told } from '../support/call-events.js'
import { scratchLedger } from '../support/ledger.js'
import { emptyReadModels, feeding, quarantined, rowsOf } from '../support/projected.js'

const { pool } = await scratchLedger(t)
const numRuns = 12

// Few ids, so that histories meet themselves.
const assistantId = fc.integer({ min: 1, max: 2 })
const leadId = fc.integer({ min: 1, max: 3 })
const user = fc.constantFrom('1', '1', '1', '2')

/** One thing that happens, anything in any order: also what no command of ours would lead to. */
const happening: fc.Arbitrary<Told> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(assistantId, user).map(([id, owner]) => assistantCreated(id, {}, owner)) },
  { weight: 4, arbitrary: fc.tuple(assistantId, fc.record({ assistant_name: fc.constantFrom('a', 'Grüezi 👋', '{"\'\\,'), record_call: fc.boolean() }, { requiredKeys: [] })).map(([id, changes]) => assistantUpdated(id, changes)) },
  { weight: 5, arbitrary: fc.tuple(leadId, user, fc.constantFrom([], [1], [1, 2])).map(([id, owner, more]) => leadCreated(id * 10, 10, more.map((extra) => id * 10 + extra), owner)) },
  { weight: 1, arbitrary: fc.tuple(leadId, leadId).map(([id, stream]) => ({ ...leadCreated(id * 10, 10), stream: `lead-10-${stream * 10}` })) },
  { weight: 8, arbitrary: call() },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'AssistantUpdated', stream: 'assistant-1' }, { type: 'LeadCreated', stream: 'lead-10-10' }, { type: 'CallCompleted', stream: 'call-c1' }).map((event) => ({ ...event, data: { nonsense: true } })) }
)

function call (): fc.Arbitrary<Told> {
  const leadStatus = fc.constantFrom(undefined, undefined, 'rescheduled' as const, 'processing' as const)
  return fc.tuple(fc.integer({ min: 1, max: 6 }), assistantId, fc.constantFrom(null, 10, 11, 12, 20, 21, 30), fc.constantFrom('completed' as const, 'failed' as const), leadStatus)
    .map(([id, assistant_id, lead_id, status, lead_status]) => callCompleted(`c${id}`, { assistant_id, lead_id, status, ...(lead_status && { lead_status }) }))
}

/** How the projector gets on with it: the sizes of its batches, and what happens before each. */
const course = fc.infiniteStream(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom('goes on', 'goes on', 'restarts', 'fails once')))

async function run (projection: Projection, log: StoredEvent[], steps: Iterator<[number, string]>): Promise<void> {
  let epoch = 1n
  let feed = await feeding(projection, pool, epoch)
  for (let at = 0; at < log.length;) {
    const [size, incident] = steps.next().value as [number, string]
    if (incident === 'fails once') {
      await pool.query('ALTER TABLE ledger.quarantine RENAME TO elsewhere') // some batches need it, and fail in the middle
      await feed.batch(log.slice(at, at + size)).then(() => { at += size }, () => {})
      await pool.query('ALTER TABLE ledger.elsewhere RENAME TO quarantine')
    }
    if (incident !== 'goes on') {
      epoch += 1n
      feed = await feeding(projection, pool, epoch)
    }
    if (at < log.length) await feed.batch(log.slice(at, at + size))
    at += size
  }
}

interface Model { wanted: Map<unknown, object>, setAside: string[] }

/** The fold, one event after the other, with nothing but maps; `step` answers false when the event contradicts what is there. */
function fold (projection: Projection, log: StoredEvent[], step: (event: DomainEvent, stored: StoredEvent) => boolean): string[] {
  const held = new Set<string>()
  const setAside: string[] = []
  for (const stored of log.filter(({ type }) => projection.eventTypes.some((known) => known === type))) {
    if (!held.has(stored.stream) && isFolded(stored)) continue
    held.add(stored.stream)
    setAside.push(`${stored.stream}@${stored.revision}`)
  }
  return setAside

  function isFolded (stored: StoredEvent): boolean {
    try {
      const event = decode(stored)
      return event === undefined || step(event, stored)
    } catch (error) {
      if (error instanceof DecodeError) return false
      throw error
    }
  }
}

function assistantModel (log: StoredEvent[]): Model {
  const states = new Map<number, { state: AssistantState, revision: number }>()
  const setAside = fold(assistants, log, (event, { revision }) => {
    if (event.type !== 'AssistantCreated' && event.type !== 'AssistantUpdated') return true
    const id = event.data.assistant_id
    const state = evolve(states.get(id)?.state, event)
    if (state) states.set(id, { state, revision: Number(revision) })
    return true
  })
  const wanted = [...states].map(([id, { state, revision }]) => [id, {
    id, user_id: state?.user_id, name: state?.settings.assistant_name, settings: state?.settings, revision, created_at: state?.created_at, updated_at: state?.updated_at
  }] as const)
  return { wanted: new Map(wanted), setAside }
}

function leadModel (log: StoredEvent[]): Model {
  const rows = new Map<number, { stream: string, user_id: string, status: string, updated_at: string, primary_id: number | null }>()
  const owners = new Map<number, string>()
  const setAside = fold(leads, log, (event, { stream, revision }) => {
    if (event.type === 'AssistantCreated') owners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') {
      const { id, user_id, secondary_contacts, created_at } = leadOf(event)
      const ids = [id, ...secondary_contacts.map((contact) => contact.id)]
      if (ids.some((one) => rows.has(one) && rows.get(one)?.stream !== stream)) return false
      for (const one of ids) if (!rows.has(one)) rows.set(one, { stream, user_id, status: 'created', updated_at: created_at, primary_id: one === id ? null : id })
    }
    if (event.type === 'CallCompleted' && revision === 0n) {
      const row = rows.get(event.data.lead_id ?? 0)
      const status = statusAfterCall(event.data)
      if (row && status && row.status !== status && owners.get(event.data.assistant_id) === row.user_id) Object.assign(row, { status, updated_at: event.data.ended_at })
    }
    return true
  })
  return { wanted: rows, setAside }
}

function callModel (log: StoredEvent[]): Model {
  const rows = new Map<string, object>()
  const [assistantOwners, leadOwners] = [new Map<number, string>(), new Map<number, string>()]
  const setAside = fold(calls, log, (event, { revision, position }) => {
    if (event.type === 'AssistantCreated') assistantOwners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') for (const id of [event.data.lead_id, ...event.data.secondary_contacts.map((contact) => contact.id)]) leadOwners.set(id, event.data.user_id)
    if (event.type === 'CallCompleted' && revision === 0n) {
      const { call_id, assistant_id, lead_id, status } = event.data
      const user_id = assistantOwners.get(assistant_id) ?? null
      const isOwn = lead_id !== null && user_id !== null && leadOwners.get(lead_id) === user_id
      rows.set(call_id, { id: call_id, user_id, assistant_id, lead_id: isOwn ? lead_id : null, status, report: event.data, position: Number(position) })
    }
    return true
  })
  return { wanted: rows, setAside }
}

const models: [Projection, (log: StoredEvent[]) => Model][] = [[assistants, assistantModel], [leads, leadModel], [calls, callModel]]
for (const [projection, model] of models) {
  t.test(`${projection.name}: rows and what was set aside are the fold of the log`, async (t) => {
    await fc.assert(fc.asyncProperty(fc.array(happening, { minLength: 20, maxLength: 60 }), course, async (told, steps) => {
      await emptyReadModels(pool, [projection])
      const log = logOf()(told)
      await run(projection, log, steps[Symbol.iterator]())
      const { wanted, setAside } = model(log)
      const rows = await rowsOf(pool, projection)
      const agree = t.strictSame([...rows.keys()].sort(), [...wanted.keys()].sort()) && [...wanted].every(([key, row]) => t.match(rows.get(key), row)) &&
        t.strictSame((await quarantined(pool, projection)).map(({ stream, revision }) => `${stream}@${revision}`), setAside)
      if (!agree) throw new Error('rows and fold disagree')
    }), { numRuns, endOnFailure: true })
  })
}
