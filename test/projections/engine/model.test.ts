// Rows are the fold of the log after any history, batches, failures and restarts; a rebuild has the same.
import { assistants } from '../../../projections/assistants.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { isAssistantEvent } from '../../../src/features/assistants/events.js'
import { evolve, type AssistantState } from '../../../src/features/assistants/model.js'
import { DecodeError, decode, type DomainEvent } from '../../../src/domain/events.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { PoolClient } from 'pg'
import t, { type Test } from 'tap'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { checkpointOf, createGeneration, schemaOf } from '../../../projections/engine/generations.js'
import { compareRows } from '../../../projections/engine/compare.js'
import { foldUntil } from '../../../projections/engine/replay.js'
import { generationConsumer } from '../../../projections/engine/feed.js'
import { claimCheckpoint, readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import type { Batch } from '../../../src/log/follow.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import {
  assistantCreated, at, call, callCompleted, leadCreated, logOf, leadDeleted
} from '../../support/events/call-events.js'
import { runs } from '@ringledger/embedded-postgres/testing'
import { type Step, course, history } from './histories.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, parkedEvents, project, rowsOf } from '../../support/projections/projected.js'
import { type Watching, watchedPool } from '../../support/postgres/statements.js'
import { fc } from '../../support/fuzz/property.js'
import { type CallCompleted, callStream } from '../../../src/features/calls/events.js'
import type { LeadCreatedEvent, LeadStatusChangedEvent, LeadUpdatedEvent } from '../../../src/features/leads/events.js'
import { leadOf } from '../../../src/features/leads/model.js'

/** Rows by key, and what is parked as `stream@revision`. */
interface Model { wanted: Map<unknown, object>, parked: string[] }

/** `step` answers false when the event contradicts what is there. */
function fold (
  projection: Projection, log: StoredEvent[], step: (event: DomainEvent, stored: StoredEvent) => boolean
): string[] {
  const parkedStreams = new Set<string>()
  const parked: string[] = []
  for (const stored of log.filter(({ type }) => projection.eventTypes.some((known) => known === type))) {
    if (!parkedStreams.has(stored.stream) && isFolded(stored)) continue
    parkedStreams.add(stored.stream)
    parked.push(`${stored.stream}@${stored.revision}`)
  }
  return parked

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

/** `refuses` tells which rows Postgres does not take. */
function assistantModel (log: StoredEvent[], refuses = (_id: number, _name: string) => false): Model {
  const states = new Map<number, { state: NonNullable<AssistantState>, revision: number }>()
  const parked = fold(assistants, log, (event, { revision }) => {
    if (!isAssistantEvent(event)) return true
    const id = event.data.assistant_id
    const state = evolve(states.get(id)?.state, event)
    if (state && refuses(id, state.settings.assistant_name)) return false
    if (state) states.set(id, { state, revision: Number(revision) })
    return true
  })
  const wanted = [...states].map(([id, { state, revision }]) => {
    const { assistant_id, isDeleted, status, ...rest } = state
    const shown = { id, name: rest.settings.assistant_name, status: isDeleted ? 'deleted' : status, revision }
    return [id, { ...rest, ...shown }] as const
  })
  return { wanted: new Map(wanted), parked }
}

// The rows that the projection of leads must have: the fold of the log in maps, one event after the other.
type Updated = LeadUpdatedEvent['data']
type LeadRows = Map<number, LeadRow>

interface LeadRow {
  stream: string
  user_id: string
  status: string
  updated_at: string
  newest_report_at: string | null
  primary_id: number | null
  place: number
  variables: object
}

/** Postgres takes no row of the lead `refused`. */
function leadModel (log: StoredEvent[], refused?: number): Model {
  const rows: LeadRows = new Map()
  const owners = new Map<number, string>()
  const reported = new Set<string>()
  const parked = fold(leads, log, (event, { stream, created }) => {
    switch (event.type) {
      case 'AssistantCreated': owners.set(event.data.assistant_id, event.data.user_id); break
      case 'LeadCreated': return create(rows, event, stream, refused)
      case 'LeadUpdated': return update(rows, event.data, stream, refused)
      case 'LeadStatusChanged': return move(rows.get(event.data.contact_id ?? event.data.lead_id), event, stream)
      case 'LeadDeleted': return remove(rows.get(event.data.lead_id), stream)
      case 'CallCompleted': {
        if (reported.has(event.data.call_id)) break
        reported.add(event.data.call_id)
        const row = rows.get(event.data.lead_id ?? 0)
        if (row && owners.get(event.data.assistant_id) === row.user_id) report(row, event.data, created)
        break
      }
      default:
    }
    return true
  })
  return { wanted: rows, parked }
}

function create (rows: LeadRows, event: LeadCreatedEvent, stream: string, refused?: number): boolean {
  const lead = leadOf(event)
  const { id, user_id, secondary_contacts, created_at } = lead
  const people = [lead, ...secondary_contacts]
  const isOthers = (id: number) => rows.has(id) && rows.get(id)?.stream !== stream
  if (people.some(({ id }) => id === refused || isOthers(id))) return false
  const row = { stream, user_id, status: 'created', updated_at: created_at, newest_report_at: null }
  people.forEach(({ id: one, variables }, place) => {
    if (!rows.has(one)) rows.set(one, { ...row, primary_id: one === id ? null : id, place, variables })
  })
  return true
}

function move (row: LeadRow | undefined, { data: { status } }: LeadStatusChangedEvent, stream: string): boolean {
  if (row?.stream === stream && row.status !== 'deleted') row.status = status
  return !row || row.stream === stream
}

const deleted = { status: 'deleted', newest_report_at: null, updated_at: at }

function remove (row: LeadRow | undefined, stream: string): boolean {
  if (row?.stream === stream) Object.assign(row, deleted)
  return !row || row.stream === stream
}

function report (row: LeadRow, { lead_status, status: ended, ended_at }: CallCompleted, created: Date): void {
  if (row.status === 'deleted') return
  if (row.newest_report_at !== null && Date.parse(ended_at) < Date.parse(row.newest_report_at)) return
  const given = lead_status ?? (ended === 'completed' ? 'completed' : row.status)
  const status = row.status === 'blacklisted' ? row.status : given
  const moved = status !== row.status && created.toISOString() > row.updated_at
  const updated_at = moved ? created.toISOString() : row.updated_at
  Object.assign(row, { status, newest_report_at: ended_at, updated_at })
}

/** All of these events are of one time, which is never later than a row's. */
function update (
  rows: LeadRows, { lead_id, changes, removed_contacts }: Updated, stream: string, refused?: number
): boolean {
  const lead = rows.get(lead_id)
  const { variables, secondary_contacts = [] } = changes
  if (!lead) return true
  const formers = secondary_contacts.map(({ id }) => rows.get(id))
  if (formers.some((row) => row && row.primary_id !== lead_id)) return false
  const named = [lead, ...formers, ...removed_contacts.map((id) => rows.get(id))]
  if (named.some((row) => row && row.stream !== stream)) return false
  if (secondary_contacts.some(({ id }) => id === refused)) return false
  Object.assign(lead, { variables: variables ?? lead.variables })
  secondary_contacts.forEach(({ id, variables }, index) => {
    const fresh = { ...lead, status: 'created', newest_report_at: null, primary_id: lead_id, updated_at: at }
    rows.set(id, { ...(rows.get(id) ?? fresh), variables, place: index + 1 })
  })
  for (const id of removed_contacts) Object.assign(rows.get(id) ?? {}, deleted)
  return true
}

function callModel (log: StoredEvent[]): Model {
  const rows = new Map<string, object>()
  const assistantOwners = new Map<number, string>()
  const leadOwners = new Map<number, { user_id: string, lead: object }>()
  const addContacts = (primary_lead_id: number, user_id: string, contacts: { id: number }[] = []) => {
    for (const { id } of contacts) leadOwners.set(id, { user_id, lead: { id, primary_lead_id } })
  }
  const parked = fold(calls, log, (event, { position }) => {
    if (event.type === 'AssistantCreated') assistantOwners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') {
      const { lead_id, secondary_contacts, user_id } = event.data
      leadOwners.set(lead_id, { user_id, lead: { id: lead_id } })
      addContacts(lead_id, user_id, secondary_contacts)
    }
    if (event.type === 'LeadUpdated') {
      addContacts(event.data.lead_id, event.data.user_id, event.data.changes.secondary_contacts)
    }
    if (event.type === 'CallCompleted' && !rows.has(event.data.call_id)) {
      const { call_id, assistant_id, lead_id, status } = event.data
      const user_id = assistantOwners.get(assistant_id) ?? null
      const named = leadOwners.get(lead_id ?? 0)
      const isOwn = user_id !== null && named?.user_id === user_id
      const summary = { lead: isOwn ? named.lead : null }
      const owned = { id: call_id, user_id, assistant_id, lead_id: isOwn ? lead_id : null, status, summary }
      rows.set(call_id, { ...owned, report: user_id === null ? null : event.data, position: Number(position) })
    }
    return true
  })
  return { wanted: rows, parked }
}

const { pool } = await scratchLedger(t)
const numRuns = runs(6)

/** Makes statements of `failing` fail, before they are sent or after they were carried out. */
const watching: Watching = {}
const failing = watchedPool(pool, watching)

function failOnce ({ statement, when }: Step['failure']): void {
  let left = statement
  watching[when] = (sent) => {
    if (--left > 0) return
    watching[when] = undefined
    throw new Error(`fails ${when}: ${sent}`)
  }
}

/** The log as it is followed, in parts, ended anywhere; `restart` ends its reader. */
function delivering (log: StoredEvent[], steps: Iterator<Step>, restart: () => void) {
  return async function * follow ({ after }: { after: bigint }): AsyncGenerator<Batch> {
    for (let at = log.filter(({ position }) => position <= after).length; at < log.length;) {
      const { size, incident, failure } = steps.next().value as Step
      if (incident === 'fails') failOnce(failure)
      if (incident === 'restarts') restart()
      if (incident === 'restarts' || incident === 'ends') return
      const events = log.slice(at, at += size)
      const position = events.at(-1)?.position ?? after
      yield { events, position }
    }
    restart()
  }
}

/** Short, as a lease may be acquired although its statement seems to fail. */
const leaseTimes = { renewEvery: 50, expiresAfter: 200, tryEvery: 20 }
const noReads = { read: unused, visit: unused, last: unused, limitOf: unused, head: unused, assertHas: unused }
const noWrites = { append: unused, delete: unused, scavenge: unused, truncate: unused }
const onlyFollow = { ...noReads, ...noWrites, followStored: unused, lookNow: unused }
function unused (): never { throw new Error('unused') }
const positionOf = (projection: Projection, generation: number) =>
  readCheckpoint(pool, checkpointOf(projection, generation))

/** Projects it live, with as many processes as needed. */
async function run (projection: Projection, log: StoredEvent[], steps: Iterator<Step>): Promise<void> {
  while (await positionOf(projection, 1) < (log.at(-1)?.position ?? 0n)) {
    const process = new AbortController()
    const streams = { ...onlyFollow, follow: delivering(log, steps, () => process.abort()) }
    const options = { streams, pool: failing, holder: 'test', signal: process.signal, leaseTimes, log: keepingLog() }
    await runSubscription(generationConsumer(projection, 1, failing), options)
  }
}

/** Rebuilds it, with as many tries as needed. */
async function rebuild (
  projection: Projection, log: StoredEvent[], steps: Iterator<Step>, limits: { cacheBytes: number, events: number }
): Promise<void> {
  await inTransaction(pool, (tx) => createGeneration(tx, projection, 2, 'building'))
  const until = log.at(-1)?.position ?? 0n
  for (let epoch = 1n; await positionOf(projection, 2) < until; epoch += 1n) {
    const process = new AbortController()
    const streams = { ...onlyFollow, follow: delivering(log, steps, () => process.abort()) }
    await claimCheckpoint(pool, checkpointOf(projection, 2), epoch)
    const options = { pool: failing, streams, signal: process.signal, epoch, limits, shortestPauseMs: 1 }
    await foldUntil(projection, 2, until, { ...options, refuse: unused }).catch(() => {})
  }
}

async function differences (projection: Projection): Promise<object[]> {
  const [present, rebuilt] = [schemaOf(projection, 1), schemaOf(projection, 2)]
  const compare = (db: PoolClient) =>
    compareRows(projection.tables, { found: { db, schema: present }, expected: { db: pool, schema: rebuilt } })
  return (await inTransaction(pool, compare)).differences
}

const limits = fc.record({ cacheBytes: fc.constantFrom(0, 5_000, 2 ** 20), events: fc.integer({ min: 1, max: 30 }) })
/** Ids of rows that Postgres refuses: of other values only the last one of a batch would be refused. */
const refused: Record<string, number> = { assistants: 2, leads: 21 }
const models: [Projection, (log: StoredEvent[]) => Model][] = [
  [assistants, (log) => assistantModel(log, (id) => id === refused.assistants)],
  [leads, (log) => leadModel(log, refused.leads)],
  [calls, callModel]
]

for (const [projection, model] of models) {
  t.test(`${projection.name}: rows and parked events are the fold of the log, as in a rebuild`, async (t) => {
    await fc.assert(fc.asyncProperty(history, course, limits, async (told, course, limits) => {
      await emptyWithCheck(projection)
      const log = logOf()(told).filter(({ type }) => projection.eventTypes.some((known) => known === type))
      const steps = course[Symbol.iterator]()
      await run(projection, log, steps)
      const wanted = model(log)
      await rebuild(projection, log.filter((event) => !wanted.parked.includes(nameOf(event))), steps, limits)
      if (!await isAsWanted(t, projection, wanted)) throw new Error('rows and fold disagree')
    }), { numRuns, endOnFailure: true })
  })
}

t.test('a deleted lead whose call was erased with another person has the row of a rebuild', async (t) => {
  const { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration } = call('c-1', { lead_id: 1 })
  const data = { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration }
  const log = logOf()([
    assistantCreated(1), leadCreated(1, 1), callCompleted('c-1', { lead_id: 1 }), leadDeleted(1, 1),
    { stream: callStream('c-1'), type: 'CallErased', data: { ...data, erased_at: '2026-02-01T12:00:00.000Z' } }
  ])
  const [live, rebuilt] = await Promise.all([log, log.filter(({ type }) => type !== 'CallCompleted')].map(async (events) => {
    const { pool } = await scratchLedger(t)
    await emptyReadModels(pool)
    await project(pool, events)
    return await rowsOf(pool, leads)
  }))
  t.strictSame(live, rebuilt)
})

/** Postgres refuses a row, and the circuit breaker does not open. */
async function emptyWithCheck (projection: Projection): Promise<void> {
  const schema = schemaOf(projection, 1)
  await emptyReadModels(pool, [projection])
  const id = refused[projection.name]
  if (id !== undefined) await pool.query(`ALTER TABLE ${schema}.${projection.name} ADD CHECK (id <> ${id})`)
  await pool.query('UPDATE ledger.generations SET breaker_position = 1e18')
}

async function isAsWanted (t: Test, projection: Projection, { wanted, parked }: Model): Promise<boolean> {
  const rows = await rowsOf(pool, projection)
  return t.strictSame([...rows.keys()].sort(), [...wanted.keys()].sort()) &&
    [...wanted].every(([key, row]) => t.match(rows.get(key), row)) &&
    t.strictSame((await parkedEvents(pool, projection)).map(nameOf), parked) &&
    t.strictSame(await differences(projection), [])
}

function nameOf ({ stream, revision }: { stream: string, revision: bigint | number }): string {
  return `${stream}@${revision}`
}
