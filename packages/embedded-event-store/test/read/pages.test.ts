// Readers of pages share one measure of memory that is never exceeded, and each sees everything once, in order.
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { RecordedEvent } from '../../src/log/event.js'
import { Readers } from '../../src/log/read/pages.js'
import { portion } from '../../src/log/read/portion.js'
import { event, reading } from '../support/reading.js'

const kib = 1024
const mib = 1024 * kib
const measure = 32 * mib

const revisions = async (made: AsyncIterable<RecordedEvent[]>) => {
  const seen: number[] = []
  for await (const events of made) seen.push(...events.map(({ revision }) => revision))
  return seen
}
const next = async (made: AsyncGenerator<RecordedEvent[]>) => {
  const { value } = await made.next() as IteratorResult<RecordedEvent[], undefined>
  return (value ?? []).map(({ revision }) => revision)
}
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, revision) => revision)
const settled = async () => { for (let n = 0; n < 5; n++) await turn() }

t.test('a portion weighs 64 KiB and the event that exceeds them, and is one event at least', async (t) => {
  const events = (size: number) => Array.from({ length: 200 }, (_, revision) => event(revision, Buffer.alloc(size)))
  t.equal(portion(events(0)).length, 128)
  t.equal(portion(events(0), 150).length, 50)
  t.equal(portion(events(8 * kib)).length, 8)
  t.equal(portion(events(mib)).length, 1)
  t.same(portion([]), [])
})

t.test('a range is read in either direction, to its end', async (t) => {
  for (const data of [Buffer.alloc(0), Buffer.alloc(300 * kib)]) {
    t.same(await revisions(reading({ last: 3000, data }).made), upTo(3000))
    t.same(await revisions(reading({ last: 3000, data, direction: 'backward' }).made), upTo(3000).reverse())
  }
  t.same(await revisions(reading({ last: -1 }).made), [])
})

t.test('the first page is small; a reader that wants few events reads few, and nothing ahead of them', async (t) => {
  const all = reading({ last: 3000 })
  await revisions(all.made)
  t.same(all.asked.slice(0, 2).map(({ from, events }) => [from, events]), [[0, 64], [64, 1024]])
  const few = reading({ wanted: 5 })
  t.equal((await next(few.made)).length, 5)
  t.equal(few.asked.length, 1)
})

t.test('readers that stand still hold no more than the measure, and see everything once when they go on', async (t) => {
  const readers = new Readers()
  const data = Buffer.alloc(16 * kib)
  const crowd = Array.from({ length: 300 }, () => reading({ readers, last: 300, data }))
  let most = 0
  const seen = await Promise.all(crowd.map(({ made }) => next(made)))
  for (let n = 0; n < 20; n++, await turn()) most = Math.max(most, readers.bytes)
  t.ok(most > measure / 2 && most <= measure, `${most} bytes are held`)
  for (const [index, { made }] of crowd.entries()) {
    seen[index]?.push(...await revisions(made))
    most = Math.max(most, readers.bytes)
  }
  t.same(seen, crowd.map(() => upTo(300)))
  t.ok(most <= measure, `never more than ${most} bytes were held`)
  t.equal(readers.bytes, 0)
})

t.test('one reader has whole pages, a crowd shares them, one that stands still gives way to one that goes on', async (t) => {
  const readers = new Readers()
  const data = Buffer.alloc(64 * kib)
  const size = (one?: ReturnType<typeof reading>) => one?.asked.at(-1)?.bytes
  const first = reading({ readers, last: 1000, data })
  await first.made.next()
  t.equal(size(first), 2 * mib)
  const crowd = Array.from({ length: 15 }, () => reading({ readers, last: 1000, data }))
  await Promise.all(crowd.map(({ made }) => made.next()))
  t.equal(size(crowd.at(-1)), mib, 'two pages of 16 readers make up the measure')
  const goesOn = reading({ readers, last: 1000, data })
  t.same(await revisions(goesOn.made), upTo(1000))
  t.equal(
    new Set(goesOn.asked.map(({ from }) => from)).size, goesOn.asked.length, 'a reader that goes on reads nothing twice'
  )
})

t.test('in whatever order readers go on, each sees everything once', async (t) => {
  const order = fc.array(fc.nat(24), { minLength: 100, maxLength: 400 })
  await fc.assert(fc.asyncProperty(order, async (order) => {
    const readers = new Readers()
    const crowd = Array.from({ length: 25 }, (_, n) => {
      const data = Buffer.alloc(n % 2 === 0 ? mib : 100 * kib)
      return { ...reading({ readers, last: 40, data }), seen: [] as number[] }
    })
    for (const { made, seen } of order.flatMap((index) => crowd[index] ?? [])) {
      seen.push(...await next(made))
      if (readers.bytes > measure) throw new Error(`${readers.bytes} bytes are held`)
    }
    for (const { made, seen } of crowd) t.same([...seen, ...await revisions(made)], upTo(40))
  }), { seed: 7, numRuns: 10 })
})

t.test('a reader that breaks off or fails holds nothing, not even the page under way', async (t) => {
  const readers = new Readers()
  const broken = reading({ readers, last: 3000 })
  await broken.made.next()
  await broken.made.return(undefined)
  await settled()
  t.equal(broken.asked.length, 2, 'a page was under way')
  t.equal(readers.bytes, 0)
  await t.rejects(reading({ readers, fails: () => true }).made.next(), { message: 'gone' })
  t.equal(readers.bytes, 0)
})

t.test('a page that could not be read ahead is asked for again when it is needed', async (t) => {
  let count = 0
  const { made, asked } = reading({ last: 3000, fails: () => ++count === 2 })
  const seen = await next(made)
  await settled()
  t.same([...seen, ...await revisions(made)], upTo(3000))
  t.same(asked.slice(1, 3).map(({ from }) => from), [64, 64])
})
