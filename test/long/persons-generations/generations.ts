// Persons whom a user knows while read models are replayed and led back: what has to be true of every generation once
// they are erased.
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { calls } from '../../../projections/calls.js'
import { generationsOf as allGenerations, leaseOf } from '../../../projections/engine/generations.js'
import { leads } from '../../../projections/leads.js'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { haveCome } from '../../support/persons/persons.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { newAssistant, type TestService } from '../../support/service.js'
import { randomUUID } from 'node:crypto'
import type { Projection } from '../../../projections/engine/projection.js'
import { ReplayRefused, BrokenOff, type BuildOptions, verify } from '../../../projections/engine/replay.js'
import { rollback, replay } from '../../../projections/engine/operations.js'
import { openSealing } from '../../../src/services/connections.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import type { Teardown } from '../../support/teardown.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { Gate, watchedPool } from '../../support/postgres/statements.js'

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

/**
 * `half`: the first event of the person is written, the others are not read yet. `compared`: before the swap. `ready`:
 * a reader keeps others from being led to it.
 */
export const points = ['half', 'compared', 'ready'] as const
export type Point = typeof points[number]

export interface Held {
  goOn (): Promise<void>
  /** Why it was refused or broke off, if so. */
  ended: Promise<string | undefined>
}

interface HeldOptions {
  at: Point
  /** It knows nothing of its lease being over; until it goes on nothing of it is answered. */
  isFrozen: boolean
  /** One of the person's events, with others behind it. */
  isFirst (event: StoredEvent): boolean
}

export function replaysHeld (t: Teardown, service: TestService) {
  const { config, urls, parts: { pool, consumerPool } } = service
  const connection = connectionTo(t, urls.eventStoreUrl)
  /** Begins a replay. @returns once it is held */
  return async (projection: Projection, { at, isFrozen, isFirst }: HeldOptions): Promise<Held> => {
    const gate = new Gate()
    const { streams } = openSealing(new EventLog(connection), pool, config)
    if (at === 'half') streams.followStored = oneByOne(streams.followStored, gate, isFirst)
    const letGo = at === 'ready' ? await reading(pool, projection) : async () => gate.open()
    const watched = (of: Pool) => watchedPool(of, { before: () => gate.pass() })
    const replaying = replay(projection, {
      pool: watched(pool),
      consumerPool: isFrozen ? watched(consumerPool) : consumerPool,
      streams,
      holder: `test ${randomUUID()}`,
      signal: new AbortController().signal,
      log: keepingLog(),
      limits: at === 'half' ? { events: 1 } : undefined,
      leaseTimes: isFrozen ? { renewEvery: 500, expiresAfter: 3_600_000, tryEvery: 500 } : undefined,
      onProgress ({ doing }) {
        if (at === 'compared' && doing === 'indexes') gate.close()
      }
    })
    const newest = async () => (await allGenerations(pool, projection)).at(-1)
    await (at === 'ready' ? eventually(async () => (await newest())?.state === 'ready') : gate.arrived)
    if (isFrozen) {
      await pool.query("UPDATE ledger.leases SET expires_at = '-infinity' WHERE name = $1",
        [leaseOf(projection, (await newest())?.generation ?? 0)])
    }
    return { goOn: letGo, ended: problemOf(replaying) }
  }
}

async function problemOf (replaying: Promise<unknown>): Promise<string | undefined> {
  try {
    await replaying
    return undefined
  } catch (error) {
    if (error instanceof ReplayRefused || error instanceof BrokenOff) return error.message
    throw error
  }
}

/** A reader, whom no swap pushes aside. @returns what ends it */
export async function reading (pool: Pool, { tables: [table] }: Projection): Promise<() => Promise<void>> {
  const reader = await pool.connect()
  await reader.query(`BEGIN; SELECT FROM read_model.${table?.name} LIMIT 1`)
  let ended: Promise<unknown> | undefined
  return async () => { await (ended ??= reader.query('ROLLBACK').finally(() => reader.release())) }
}

/** Each event is a batch: behind the first one of the person comes the next one once the gate opens. */
function oneByOne (follow: Streams['follow'], gate: Gate, isFirst: HeldOptions['isFirst']): Streams['follow'] {
  return async function * (options) {
    for await (const { events, position } of follow(options)) {
      for (const event of events) {
        await gate.pass()
        yield { events: [event], position: event.position }
        if (isFirst(event)) gate.close()
      }
      yield { events: [], position }
    }
  }
}
