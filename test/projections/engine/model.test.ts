// Whatever the batches, failures and restarts, rows are those of one event after the other; a rebuild has the same.
import { assistants } from '../../../projections/assistants.js'
import type { Projection } from '../../../projections/engine/projection.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { PoolClient } from 'pg'
import t from 'tap'
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
  assistantCreated, call, callCompleted, leadCreated, logOf, leadDeleted
} from '../../support/events/call-events.js'
import { runs } from '@ringledger/embedded-postgres/testing'
import { type Step, course, history } from './histories.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, project, rowsOf } from '../../support/projections/projected.js'
import { type Watching, watchedPool } from '../../support/postgres/statements.js'
import { fc } from '../../support/fuzz/property.js'
import { callStream } from '../../../src/features/calls/events.js'

const { pool } = await scratchLedger(t)
const numRuns = runs(3)

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

for (const projection of [assistants, leads, calls]) {
  t.test(`${projection.name}: rows and parked events are those of one event after the other, as in a rebuild`, async (t) => {
    await fc.assert(fc.asyncProperty(history, course, limits, async (told, course, limits) => {
      const log = logOf()(told).filter(({ type }) => projection.eventTypes.some((known) => known === type))
      await emptyWithCheck(projection)
      const { batch } = await feeding(projection, pool)
      for (const event of log) await batch([event])
      const wanted = await outcome(projection)

      await emptyWithCheck(projection)
      const steps = course[Symbol.iterator]()
      await run(projection, log, steps)
      await rebuild(projection, log.filter((event) => !wanted.parked.includes(nameOf(event))), steps, limits)
      const isSame = t.strictSame(await outcome(projection), wanted) && t.strictSame(await differences(projection), [])
      if (!isSame) throw new Error('rows and fold disagree')
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
  const found = []
  for (const events of [log, log.filter(({ type }) => type !== 'CallCompleted')]) {
    await emptyReadModels(pool)
    await project(pool, events)
    found.push(await rowsOf(pool, leads))
  }
  t.strictSame(found[0], found[1])
})

/** Postgres refuses a row, and the circuit breaker does not open. */
async function emptyWithCheck (projection: Projection): Promise<void> {
  const schema = schemaOf(projection, 1)
  await emptyReadModels(pool, [projection])
  const id = refused[projection.name]
  if (id !== undefined) await pool.query(`ALTER TABLE ${schema}.${projection.name} ADD CHECK (id <> ${id})`)
  await pool.query('UPDATE ledger.generations SET breaker_position = 1e18')
}

/** The rows of all tables, and the parked events as `stream@revision`. */
async function outcome (projection: Projection) {
  const tables = await Promise.all(projection.tables.map(({ name }) => rowsOf(pool, projection, name)))
  return { tables, parked: (await parkedEvents(pool, projection)).map(nameOf) }
}

function nameOf ({ stream, revision }: { stream: string, revision: bigint | number }): string {
  return `${stream}@${revision}`
}
