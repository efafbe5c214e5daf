// How late readers are while others write: from an append to its row, at a steady rate.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Positions } from '../../projections/engine/positions/positions.js'
import { customer, customerNumber } from '../../src/domain/examples.js'
import { noStream, type Streams } from '../../src/event-store/streams.js'
import { percentile } from '../support/statistics.js'

export interface Lag {
  writes: number
  perSecond: number
  /** Milliseconds, p50 and p99: until the append is acknowledged, and until readers of the projection see it. */
  append: [number, number]
  visible: [number, number]
}

const visibleWithinMs = 60_000
const firstId = 1_000_000_000

/** Creates leads at this rate: each at its own time, without waiting for earlier ones. The first second warms up. */
export async function liveLag (
  streams: Streams, positions: Positions, perSecond: number, seconds: number
): Promise<Lag> {
  const total = perSecond * (seconds + 1)
  const [append, visible]: [number[], number[]] = [[], []]
  const writing: Promise<void>[] = []
  const startedAt = performance.now()
  for (let count = 0; count < total; count++) {
    const dueAt = startedAt + count * 1_000 / perSecond
    if (dueAt > performance.now()) await delay(dueAt - performance.now())
    const written = write(count, dueAt)
    written.catch(() => {}) // rejects again below
    writing.push(written)
  }
  const writtenIn = (performance.now() - startedAt) / 1_000
  await Promise.all(writing)
  const both = (values: number[]): [number, number] => [percentile(values, 0.5), percentile(values, 0.99)]
  return { writes: visible.length, perSecond: total / writtenIn, append: both(append), visible: both(visible) }

  async function write (count: number, dueAt: number): Promise<void> {
    const { position } = await streams.append(`lead-1-bench-${count}`, [leadCreated(firstId + count)], noStream)
    const appendedIn = performance.now() - dueAt
    const isVisible = await positions.reached('leads', position, visibleWithinMs)
    if (!isVisible) throw new Error(`write ${count} was not visible within ${visibleWithinMs} ms`)
    if (count < perSecond) return
    append.push(appendedIn)
    visible.push(performance.now() - dueAt)
  }
}

function leadCreated (lead_id: number) {
  const whom = { campaign_id: 1, phone_number: customerNumber, variables: customer, secondary_contacts: [] }
  const data = { lead_id, user_id: '1', ...whom, created_at: new Date().toISOString() }
  return { id: randomUUID(), type: 'LeadCreated', data, metadata: { schema_version: '1' } }
}
