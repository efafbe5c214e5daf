// What the dispatcher has parked is counted, listed, read again and given up, like what projections have.
import t from 'tap'
import { countParkedStreams, parkedEvent, parkedStreams } from '../../../projections/engine/parked.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { retryParked, skipParked } from '../../../src/ops/parked.js'
import {
  assistantCreated, assistantUpdated, callCompleted, leadCreated, type Told
} from '../../support/events/call-events.js'
import { dispatchRig, type Rig } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'
import { webhookOn } from './dispatching.js'

const { begin } = await ruleRig(t)

/** As if the dispatcher had come to the end. */
const passAll = ({ pool }: Pick<Rig, 'pool'>) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = 1000000')
const later = (told: Told): Told => ({ ...told, metadata: { schema_version: '9' } })

function reading (read: (stream: string, from?: bigint) => Promise<StoredEvent[]>) {
  const visit = async (stream: string, from: bigint, take: (event: StoredEvent) => void) => {
    for (const event of await read(stream, from)) take(event)
    return true
  }
  return { read, visit }
}

/** A log that can be mended, as a release that reads more would. */
function logOver (stored: StoredEvent[]) {
  const metadata = { schema_version: '2' }
  const isLater = (each: StoredEvent) => each.metadata.schema_version === '9'
  const read = async (stream: string, from = 0n) =>
    stored.filter((each) => each.stream === stream && each.revision >= from)
  const readMore = async (stream: string, from = 0n) =>
    (await read(stream, from)).map((each) => isLater(each) ? { ...each, metadata } : each)
  return { asItIs: reading(read), readable: reading(readMore) }
}

t.test('a retry makes known what a stream says, also what came after, or leaves all of it', async (t) => {
  const r = await dispatchRig(t, await begin())
  await passAll(r)
  const stored = await r.tell(
    later(assistantCreated(1)), assistantUpdated(1, webhookOn), callCompleted('early'))
  const { pool } = r
  t.match(await parkedStreams(pool, ['dispatcher']), [
    { projection: 'dispatcher', generation: null, stream: 'assistant-1', events: 2, revision: '0', error: /schema_version 9/ }
  ])
  t.strictSame(await countParkedStreams(pool), [{ projection: 'dispatcher', generation: '', streams: 1 }])
  const { asItIs, readable } = logOver(stored)
  t.match(await parkedEvent({ pool, streams: asItIs }, undefined, 'assistant-1'), { generation: null, parked: 2 })
  await t.rejects(retryParked({ pool, streams: asItIs }, 'dispatcher', 'assistant-1'), /stays parked, .* schema_version 9/)
  t.match(await retryParked({ pool, streams: readable }, 'dispatcher', 'assistant-1'), /^The dispatcher has read 2 events /)
  t.strictSame(await countParkedStreams(pool), [])
  await t.rejects(retryParked({ pool, streams: readable }, 'dispatcher', 'assistant-1'), /has not parked assistant-1:/)
  await r.tell(callCompleted('late'))
  t.same((await r.deliveries()).map(({ call_id, status }) => [call_id, status]), [['early', 'skipped'], ['late', 'scheduled']])
})

t.test('a call whose lead came later is read again without another delivery; one whose lead never comes is given up', async (t) => {
  const r = await dispatchRig(t, await begin())
  await passAll(r)
  const { pool } = r
  const stored = [
    ...await r.tell(assistantCreated(1, webhookOn), callCompleted('soon', { lead_id: 7 }), callCompleted('never', { lead_id: 8 })),
    ...await r.tell(leadCreated(7, 3))
  ]
  const streams = logOver(stored).asItIs
  t.match(await retryParked({ pool, streams }, 'dispatcher', 'call-soon'), / 1 events of call-soon again; none /)
  await t.rejects(retryParked({ pool, streams }, 'dispatcher', 'call-never'), /lead 8 is not known/)
  const skip = () => skipParked({ pool, streams }, 'dispatcher', 'call-never', 0n, 'no such lead')
  t.equal(await skip(), 'The dispatcher goes on without call-never@0.')
  await t.rejects(skip(), /has not parked call-never@0:/)
  t.strictSame(await countParkedStreams(pool), [])
  t.equal((await r.deliveries()).length, 2)
})

t.test('a parked event that an erasure has hidden since is passed over', async (t) => {
  const r = await dispatchRig(t, await begin())
  await passAll(r)
  const [, ...left] = await r.tell(later(assistantCreated(1)), assistantUpdated(1, webhookOn))
  t.match(await retryParked({ pool: r.pool, streams: logOver(left).asItIs }, 'dispatcher', 'assistant-1'), / 1 events /)
  t.strictSame(await countParkedStreams(r.pool), [])
})
