// Rows are the fold of the log, whatever the history, the batches, repetitions, failures and restarts were; and a rebuild has the same.
import fc from 'fast-check'
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { checkpointOf, createGeneration, schemaOf } from '../../../projections/replay/generations.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { compareGenerations } from '../../../projections/replay/verify/compare.js'
import { foldUntil } from '../../../projections/replay/fill/fold-log.js'
import { generationConsumer } from '../../../projections/engine/run.js'
import { claimCheckpoint, readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { Batch } from '../../../src/event-store/subscribe.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, logOf, type Told } from '../../support/call-events.js'
import { isInFull } from '../../support/chaos.js'
import { keepingLog, scratchLedger } from '../../support/ledger.js'
import { assistantModel, callModel, leadModel, type Model } from '../../support/models.js'
import { emptyReadModels, parkedEvents, rowsOf } from '../../support/projected.js'
import { watchedPool, type Watching } from '../../support/statements.js'

const { pool } = await scratchLedger(t)
const numRuns = isInFull ? 100 : 12

// Few ids, so that histories meet themselves.
const assistantId = fc.integer({ min: 1, max: 2 })
const leadId = fc.integer({ min: 1, max: 3 })
const user = fc.constantFrom('1', '1', '1', '2')

/** One thing that happens, anything in any order: also what no command of ours would lead to. */
const happening: fc.Arbitrary<Told> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(assistantId, user).map(([id, owner]) => assistantCreated(id, {}, owner)) },
  { weight: 4, arbitrary: fc.tuple(assistantId, fc.record({ assistant_name: fc.constantFrom('a', 'Grüezi 👋', '{"\'\\,', 'refused'), record_call: fc.boolean() }, { requiredKeys: [] })).map(([id, changes]) => assistantUpdated(id, changes)) },
  { weight: 5, arbitrary: fc.tuple(leadId, user, fc.constantFrom([], [1], [1, 2])).map(([id, owner, more]) => leadCreated(id * 10, 10, more.map((extra) => id * 10 + extra), owner)) },
  { weight: 1, arbitrary: fc.tuple(leadId, leadId).map(([id, stream]) => ({ ...leadCreated(id * 10, 10), stream: `lead-10-${stream * 10}` })) },
  { weight: 8, arbitrary: call() },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }).map((id) => ({ type: 'CallStarted', stream: `call-c${id}`, data: {} })) },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'AssistantUpdated', stream: 'assistant-1' }, { type: 'LeadCreated', stream: 'lead-10-10' }, { type: 'CallCompleted', stream: 'call-c1' }).map((event) => ({ ...event, data: { nonsense: true } })) }
)

function call (): fc.Arbitrary<Told> {
  const leadStatus = fc.constantFrom(undefined, undefined, 'rescheduled' as const, 'processing' as const)
  return fc.tuple(fc.integer({ min: 1, max: 6 }), assistantId, fc.constantFrom(null, 10, 11, 12, 20, 21, 30), fc.constantFrom('completed' as const, 'failed' as const), leadStatus)
    .map(([id, assistant_id, lead_id, status, lead_status]) => callCompleted(`c${id}`, { assistant_id, lead_id, status, ...(lead_status && { lead_status }) }))
}

interface Step { size: number, incident: string, failure: { statement: number, when: 'before' | 'after' } }

/** How it gets on: the sizes of batches, what happens before each, and which of the next statements fails. */
const course = fc.infiniteStream(fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  incident: fc.constantFrom('goes on', 'goes on', 'goes on', 'repeats', 'doubles', 'fails', 'ends', 'restarts'),
  failure: fc.record({ statement: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) })
}))

/** Lets statements of `failing` fail: before they are sent, or although they were carried out. */
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

/** The log as a store may deliver it: some of it again, broken off anywhere; `restart` ends its reader. */
function delivering (log: StoredEvent[], steps: Iterator<Step>, restart: () => void) {
  return async function * follow ({ after }: { after: bigint }): AsyncGenerator<Batch> {
    for (let at = log.filter(({ position }) => position <= after).length; at < log.length;) {
      const { size, incident, failure } = steps.next().value as Step
      if (incident === 'fails') failOnce(failure)
      if (incident === 'restarts') restart()
      if (incident === 'restarts' || incident === 'ends') return
      const from = incident === 'repeats' ? Math.max(0, at - size) : at
      at += size
      const events = log.slice(from, at)
      yield { events: incident === 'doubles' ? [...events, ...events] : events, position: events.at(-1)?.position ?? after }
    }
    restart()
  }
}

/** A lease that was acquired although the statement seemed to fail is over soon. */
const leaseTimes = { renewEvery: 50, expiresAfter: 200, tryEvery: 20 }
const onlyFollow = { read: unused, last: unused, append: unused, head: unused }
function unused (): never { throw new Error('nobody needs this') }
const positionOf = (projection: Projection, generation: number) => readCheckpoint(pool, checkpointOf(projection, generation))

/** Projects it live, in as many processes as it takes. */
async function run (projection: Projection, log: StoredEvent[], steps: Iterator<Step>): Promise<void> {
  while (await positionOf(projection, 1) < (log.at(-1)?.position ?? 0n)) {
    const process = new AbortController()
    const streams = { ...onlyFollow, follow: delivering(log, steps, () => process.abort()) }
    await runSubscription(generationConsumer(projection, 1, failing), { streams, pool: failing, holder: 'test', signal: process.signal, leaseTimes, log: keepingLog() })
  }
}

/** Rebuilds it, with as many tries as it takes. */
async function rebuild (projection: Projection, log: StoredEvent[], steps: Iterator<Step>, limits: { cacheBytes: number, events: number }): Promise<void> {
  await inTransaction(pool, (tx) => createGeneration(tx, projection, 2, 'building'))
  for (let epoch = 1n; await positionOf(projection, 2) < (log.at(-1)?.position ?? 0n); epoch += 1n) {
    const process = new AbortController()
    const streams = { ...onlyFollow, follow: delivering(log, steps, () => process.abort()) }
    await claimCheckpoint(pool, checkpointOf(projection, 2), epoch)
    await foldUntil(projection, 2, log.at(-1)?.position ?? 0n, { pool: failing, streams, signal: process.signal, epoch, limits }).catch(() => {})
  }
}

async function differences (projection: Projection): Promise<object[]> {
  return (await inTransaction(pool, (db) => compareGenerations(projection, { found: { db, generation: 1 }, expected: { db: pool, generation: 2 } }, 10))).differences
}

const limits = fc.record({ cacheBytes: fc.constantFrom(0, 5_000, 2 ** 20), events: fc.integer({ min: 1, max: 30 }) })
const refusedBy: Record<string, string> = { assistants: "name <> 'refused'", leads: "status <> 'processing'", calls: 'true' }
const models: [Projection, (log: StoredEvent[]) => Model][] = [
  [assistants, (log) => assistantModel(log, (name) => name !== 'refused')], [leads, (log) => leadModel(log, (status) => status !== 'processing')], [calls, callModel]
]

for (const [projection, model] of models) {
  t.test(`${projection.name}: rows and what was parked are the fold of the log, and a rebuild has the same rows`, async (t) => {
    await fc.assert(fc.asyncProperty(fc.array(happening, { minLength: 20, maxLength: 60 }), course, limits, async (told, course, limits) => {
      const schema = schemaOf(projection, 1)
      await emptyReadModels(pool, [projection])
      await pool.query(`ALTER TABLE ${schema}.${projection.name} ADD CHECK (${refusedBy[projection.name]})`)
      await pool.query('INSERT INTO ledger.circuit_breakers (consumer, position, streams, error, closed_at) VALUES ($1, 1e18, 0, \'\', now()) ON CONFLICT DO NOTHING', [schema])
      const log = logOf()(told).filter(({ type }) => projection.eventTypes.some((known) => known === type))
      const steps = course[Symbol.iterator]()
      await run(projection, log, steps)
      const { wanted, parked } = model(log)
      const rows = await rowsOf(pool, projection)
      const nameOf = ({ stream, revision }: { stream: string, revision: bigint | number }) => `${stream}@${revision}`
      await rebuild(projection, log.filter((event) => !parked.includes(nameOf(event))), steps, limits)
      const agree = t.strictSame([...rows.keys()].sort(), [...wanted.keys()].sort()) && [...wanted].every(([key, row]) => t.match(rows.get(key), row)) &&
        t.strictSame((await parkedEvents(pool, projection)).map(nameOf), parked) && t.strictSame(await differences(projection), [])
      if (!agree) throw new Error('rows and fold disagree')
    }), { numRuns, endOnFailure: true })
  })
}
