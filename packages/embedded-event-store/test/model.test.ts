// Any sequence of appends, repeats, deletes and reads answers as a few lines of memory would.
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  ANY, BACKWARDS, END, FORWARDS, jsonEvent, NO_STREAM, START, STREAM_EXISTS, type AppendExpectedRevision, type ResolvedEvent
} from '@eventstore/db-client'
import { collect, scratchEventStore } from '../src/testing/scratch-event-store.js'

const { client } = await scratchEventStore(t)

interface Remembered { ids: string[], hiddenBefore: number }
interface Done { stream: string, expected: AppendExpectedRevision, batch: Array<ReturnType<typeof jsonEvent>>, answer: string }

class Model {
  readonly streams = new Map<string, Remembered>()
  readonly all: string[] = []

  at (stream: string): Remembered {
    const remembered = this.streams.get(stream) ?? { ids: [], hiddenBefore: 0 }
    this.streams.set(stream, remembered)
    return remembered
  }

  append (stream: string, expected: AppendExpectedRevision, ids: string[]): string {
    const remembered = this.at(stream)
    const last = remembered.ids.length - 1
    const isDeleted = remembered.hiddenBefore === Infinity
    if (expected === STREAM_EXISTS && isDeleted) return 'stream-deleted'
    const holds = expected === ANY || (expected === STREAM_EXISTS && last >= 0) || (expected === NO_STREAM && (last < 0 || isDeleted)) || expected === BigInt(last)
    if (!holds) return 'wrong-expected-version'
    if (isDeleted) remembered.hiddenBefore = last + 1
    remembered.ids.push(...ids)
    this.all.push(...ids)
    return `${last + ids.length}`
  }

  visible (stream: string): string[] | 'stream-not-found' {
    const { ids, hiddenBefore } = this.at(stream)
    return ids.length === 0 || hiddenBefore === Infinity ? 'stream-not-found' : ids.slice(hiddenBefore)
  }
}

const ids = (read: readonly ResolvedEvent[]) => read.map(({ event }) => event?.id ?? '')
const typeOf = (error: unknown) => error instanceof Error && 'type' in error ? String(error.type) : String(error)

const streamIndex = fc.integer({ min: 0, max: 2 })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('append' as const), stream: streamIndex, expected: fc.constantFrom('any', 'none', 'exists', 'current', 'behind', 'ahead'), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), stream: streamIndex }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), stream: streamIndex, isForward: fc.boolean(), from: fc.nat({ max: 12 }), count: fc.integer({ min: 1, max: 10 }) }) }
)

function expectedOf (kind: string, last: number): AppendExpectedRevision {
  if (kind === 'any') return ANY
  if (kind === 'none') return NO_STREAM
  if (kind === 'exists') return STREAM_EXISTS
  const revision = last + (kind === 'ahead' ? 1 : kind === 'behind' ? -1 : 0)
  return revision < 0 ? NO_STREAM : BigInt(revision)
}

/** What the same append answers later. An append that re-created a stream is not recognised by NO_STREAM: other events come first. */
function repeated (model: Model, { stream, expected, batch, answer }: Done): string {
  const isGone = model.at(stream).hiddenBefore === Infinity
  if (expected === STREAM_EXISTS && isGone) return 'stream-deleted'
  const recreated = expected === NO_STREAM && answer !== `${batch.length - 1}`
  return recreated ? model.append(stream, expected, batch.map(({ id }) => id)) : answer
}

t.test('the store answers as the model does', async (t) => {
  let steps = 0
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (sequence) => {
    const model = new Model()
    const prefix = randomUUID()
    const done: Done[] = []
    const start = (await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })))[0]?.event?.position
    const send = (stream: string, batch: Done['batch'], expectedRevision: AppendExpectedRevision) => client.appendToStream(stream, batch, { expectedRevision }).then(({ nextExpectedRevision }) => `${nextExpectedRevision}`, typeOf)

    for (const one of sequence) {
      steps++
      const stream = `${prefix}-${'stream' in one ? one.stream : 0}`
      if (one.do === 'append') {
        const expected = expectedOf(one.expected, model.at(stream).ids.length - 1)
        const batch = Array.from({ length: one.count }, () => jsonEvent({ type: 'Model', data: {} }))
        const answer = model.append(stream, expected, batch.map(({ id }) => id))
        if (await send(stream, batch, expected) !== answer) return false
        if (/^\d+$/.test(answer)) done.push({ stream, expected, batch, answer })
      } else if (one.do === 'repeat') {
        const earlier = done[one.which % Math.max(1, done.length)]
        if (earlier === undefined) continue
        if (await send(earlier.stream, earlier.batch, earlier.expected) !== repeated(model, earlier)) return false
      } else if (one.do === 'delete') {
        const answer = await client.deleteStream(stream).then(() => 'deleted', typeOf)
        if (answer !== (model.at(stream).ids.length === 0 ? 'wrong-expected-version' : 'deleted')) return false
        if (answer === 'deleted') model.at(stream).hiddenBefore = Infinity
      } else {
        const visible = model.visible(stream)
        const first = model.at(stream).hiddenBefore
        const read = await collect(client.readStream(stream, { direction: one.isForward ? FORWARDS : BACKWARDS, fromRevision: BigInt(one.from), maxCount: one.count })).then(ids, typeOf)
        const wanted = typeof visible === 'string'
          ? visible
          : (one.isForward ? visible.slice(Math.max(0, one.from - first)) : visible.slice(0, Math.max(0, one.from - first + 1)).reverse()).slice(0, one.count)
        if (JSON.stringify(read) !== JSON.stringify(wanted)) return false
      }
    }
    const all = await collect(client.readAll({ fromPosition: start ?? START }))
    return JSON.stringify(all.flatMap(({ event }) => event?.streamId.startsWith(prefix) ? [event.id] : [])) === JSON.stringify(model.all)
  }), { numRuns: 60 })
  t.ok(steps > 0)
})
