// Rows are the fold of the log, whatever the history, the batches, the failures and the restarts were.
import fc from 'fast-check'
import t from 'tap'
import { assistants } from '../../projections/assistants.js'
import { calls } from '../../projections/calls.js'
import { leads } from '../../projections/leads.js'
import type { Projection } from '../../projections/projection.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, logOf, type Told } from '../support/call-events.js'
import { scratchLedger } from '../support/ledger.js'
import { assistantModel, callModel, leadModel, type Model } from '../support/models.js'
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
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }).map((id) => ({ type: 'CallStarted', stream: `call-c${id}`, data: {} })) },
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
