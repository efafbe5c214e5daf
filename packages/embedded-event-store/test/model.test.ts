// The store answers as a model of a few lines does.
import {
  ANY, type EventData, NO_STREAM, STREAM_EXISTS, type AppendExpectedRevision, BACKWARDS, END, FORWARDS, jsonEvent,
  START, type ResolvedEvent
} from '@eventstore/db-client'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { runs, seedOf } from '@ringledger/embedded-postgres/testing'
import { collect, scratchEventStore, unbatched } from './support/scratch-event-store.js'
import { scavenge } from './support/scavenge.js'

interface Remembered { ids: string[], hiddenBefore: number }
/** An append that was answered with a revision. */
interface Done {
  stream: string
  expected: AppendExpectedRevision
  batch: EventData[]
  answer: string
}

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
    if (!holds(expected, last, isDeleted)) return 'wrong-expected-version'
    if (isDeleted) remembered.hiddenBefore = last + 1
    remembered.ids.push(...ids)
    this.all.push(...ids)
    return `${last + ids.length}`
  }

  /** The last event of a stream stays, as its revisions go on from it. */
  scavenge (): void {
    const gone = new Set([...this.streams.values()].flatMap(({ ids, hiddenBefore }) =>
      ids.slice(0, Math.min(hiddenBefore, ids.length - 1))))
    this.all.splice(0, Infinity, ...this.all.filter((id) => !gone.has(id)))
  }

  visible (stream: string): string[] | 'stream-not-found' {
    const { ids, hiddenBefore } = this.at(stream)
    return ids.length === 0 || hiddenBefore === Infinity ? 'stream-not-found' : ids.slice(hiddenBefore)
  }
}

function holds (expected: AppendExpectedRevision, last: number, isDeleted: boolean): boolean {
  switch (expected) {
    case ANY: return true
    case STREAM_EXISTS: return last >= 0
    case NO_STREAM: return last < 0 || isDeleted
    default: return expected === BigInt(last)
  }
}

/**
 * What the same append answers later. An append that re-created a stream is not recognised by NO_STREAM: other events
 * come first.
 */
function repeated (model: Model, { stream, expected, batch, answer }: Done): string {
  const isGone = model.at(stream).hiddenBefore === Infinity
  if (expected === STREAM_EXISTS && isGone) return 'stream-deleted'
  const recreated = expected === NO_STREAM && answer !== `${batch.length - 1}`
  return recreated ? model.append(stream, expected, batch.map(({ id }) => id)) : answer
}

const { client, store } = await scratchEventStore(t)

const ids = (read: readonly ResolvedEvent[]) => read.map(({ event }) => event?.id ?? '')
const typeOf = (error: unknown) => error instanceof Error && 'type' in error ? String(error.type) : String(error)

const streamIndex = fc.integer({ min: 0, max: 2 })
const append = fc.record({
  do: fc.constant('append' as const),
  stream: streamIndex,
  expected: fc.constantFrom('any', 'none', 'exists', 'current', 'behind', 'ahead'),
  count: fc.integer({ min: 1, max: 4 })
})
const repeat = fc.record({ do: fc.constant('repeat' as const), which: fc.nat({ max: 20 }) })
const remove = fc.record({ do: fc.constant('delete' as const), stream: streamIndex })
const clean = fc.record({ do: fc.constant('scavenge' as const) })
const read = fc.record({
  do: fc.constant('read' as const),
  stream: streamIndex,
  isForward: fc.boolean(),
  from: fc.nat({ max: 12 }),
  count: fc.integer({ min: 1, max: 10 })
})
const step = fc.oneof(
  { weight: 6, arbitrary: append },
  { weight: 2, arbitrary: repeat },
  { weight: 1, arbitrary: remove },
  { weight: 1, arbitrary: clean },
  { weight: 3, arbitrary: read }
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Append = Extract<Step, { do: 'append' }>
type Read = Extract<Step, { do: 'read' }>

function expectedOf (kind: string, last: number): AppendExpectedRevision {
  if (kind === 'any') return ANY
  if (kind === 'none') return NO_STREAM
  if (kind === 'exists') return STREAM_EXISTS
  const revision = last + (kind === 'ahead' ? 1 : kind === 'behind' ? -1 : 0)
  return revision < 0 ? NO_STREAM : BigInt(revision)
}

/** The answer to a read of these events, the first of which has the revision `first`. */
function wantedOf (visible: string[], first: number, { isForward, from, count }: Read): string[] {
  const below = Math.max(0, from - first)
  const ordered = isForward ? visible.slice(below) : visible.slice(0, Math.max(0, from - first + 1)).reverse()
  return ordered.slice(0, count)
}

/** One sequence, on streams of its own: the model and the store, step by step. */
class Run {
  readonly prefix = randomUUID()
  readonly model = new Model()
  readonly #done: Done[] = []
  #sent = 0

  /** Whether both answer the same. */
  async agrees (one: Step): Promise<boolean> {
    const stream = `${this.prefix}-${'stream' in one ? one.stream : 0}`
    switch (one.do) {
      case 'append': return await this.#append(stream, one)
      case 'repeat': return await this.#repeat(this.#done[one.which % Math.max(1, this.#done.length)])
      case 'delete': return await this.#delete(stream)
      case 'scavenge': return await this.#scavenge()
      case 'read': return await this.#read(stream, one)
    }
  }

  async #append (stream: string, { expected: kind, count }: Append): Promise<boolean> {
    const expected = expectedOf(kind, this.model.at(stream).ids.length - 1)
    const batch = Array.from({ length: count }, () => jsonEvent({ type: 'Model', data: {} }))
    const answer = this.model.append(stream, expected, batch.map(({ id }) => id))
    if (/^\d+$/.test(answer)) this.#done.push({ stream, expected, batch, answer })
    return await this.#send(stream, batch, expected) === answer
  }

  async #repeat (earlier: Done | undefined): Promise<boolean> {
    if (earlier === undefined) return true
    const answer = repeated(this.model, earlier)
    return await this.#send(earlier.stream, earlier.batch, earlier.expected) === answer
  }

  async #delete (stream: string): Promise<boolean> {
    const answer = await client.deleteStream(stream).then(() => 'deleted', typeOf)
    const wanted = this.model.at(stream).ids.length === 0 ? 'wrong-expected-version' : 'deleted'
    if (answer === 'deleted') this.model.at(stream).hiddenBefore = Infinity
    return answer === wanted
  }

  async #scavenge (): Promise<boolean> {
    this.model.scavenge()
    return (await scavenge(store, client)).result === 'Success'
  }

  async #read (stream: string, one: Read): Promise<boolean> {
    const visible = this.model.visible(stream)
    const direction = one.isForward ? FORWARDS : BACKWARDS
    const read = client.readStream(stream, { direction, fromRevision: BigInt(one.from), maxCount: one.count })
    const found = await collect(read).then(ids, typeOf)
    const first = this.model.at(stream).hiddenBefore
    return isDeepStrictEqual(found, typeof visible === 'string' ? visible : wantedOf(visible, first, one))
  }

  /** Batched, and by a call of its own, in turn. */
  async #send (stream: string, batch: EventData[], expectedRevision: AppendExpectedRevision): Promise<string> {
    const way = this.#sent++ % 2 === 0 ? {} : { credentials: unbatched }
    const sent = client.appendToStream(stream, batch, { expectedRevision, ...way })
    return await sent.then(({ nextExpectedRevision }) => `${nextExpectedRevision}`, typeOf)
  }
}

const seed = seedOf('FUZZ_SEED')
t.test(`the store answers as the model does (FUZZ_SEED=${seed})`, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (sequence) => {
    const last = await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
    const run = new Run()
    for (const one of sequence) if (!await run.agrees(one)) return false
    const all = await collect(client.readAll({ fromPosition: last[0]?.event?.position ?? START }))
    const own = all.flatMap(({ event }) => event?.streamId.startsWith(run.prefix) ? [event.id] : [])
    return isDeepStrictEqual(own, run.model.all)
  }), { seed, numRuns: runs(15) })
})
