// Readers of pages share one measure of memory, and hold their share only while they read.
import t from 'tap'
import type { RecordedEvent } from '../../../src/embedded/event-store/log/event.js'
import { pages, type PageSize, Readers } from '../../../src/embedded/event-store/log/pages.js'

const mib = 1024 * 1024
const alone: PageSize = { events: 1024, bytes: 4 * mib }
const entered = (count: number) => {
  const readers = new Readers()
  for (let n = 0; n < count; n++) readers.enter()
  return readers
}

t.test('up to eight readers have whole pages, and any number more share what eight of them hold', async (t) => {
  t.same(entered(1).pageSize, alone)
  t.same(entered(8).pageSize, alone)
  t.same(entered(16).pageSize, { events: 512, bytes: 2 * mib })
  for (const count of [9, 48, 1000]) {
    const { events, bytes } = entered(count).pageSize
    t.ok(events * count <= 8 * alone.events + count, `${count} readers hold no more events than eight, but for rounding`)
    t.ok(bytes * count <= 8 * alone.bytes + count, `${count} readers hold no more bytes than eight, but for rounding`)
  }
  t.same(entered(1_000_000).pageSize, { events: 1, bytes: 34 }, 'never less than one event')
})

t.test('a reader who leaves gives back its share', async (t) => {
  const readers = entered(16)
  for (let n = 0; n < 8; n++) readers.leave()
  t.same(readers.pageSize, alone)
})

const event = (revision: number): RecordedEvent => ({ position: revision, stream: 's', revision, id: '', type: 'A', isJson: false, created: 0, metadata: Buffer.alloc(0), data: Buffer.alloc(0) })

/** Pages of the revisions 0 to `last`, and with how many readers each of them was asked for. */
function reading (readers: Readers, last: number, wanted = Infinity, fails = () => false) {
  const asked: number[] = []
  const made = pages(readers, 'forward', 0, last, wanted, async (lower, upper, { events }) => {
    asked.push(events)
    if (fails()) throw new Error('gone')
    return Array.from({ length: Math.min(events, upper - lower + 1) }, (_, index) => event(lower + index))
  }, ({ revision }) => revision)
  return { asked, made }
}

t.test('a page is no larger than the share of its reader at that moment', async (t) => {
  const readers = entered(31)
  const { asked, made } = reading(readers, 2000)
  let read = 0
  for await (const page of made) {
    read += page.length
    if (read === 64 + 256) for (let n = 0; n < 24; n++) readers.leave()
  }
  t.equal(read, 2001)
  t.same(asked.slice(0, 4), [64, 256, 256, 1024], 'the first small, the next as the share is')
})

t.test('a share is held from the first page to the last, to a break, or to a failure', async (t) => {
  const readers = entered(8)
  const { made } = reading(readers, 100)
  t.same(readers.pageSize, alone, 'not before it reads')
  await made.next()
  t.equal(readers.pageSize.events, Math.ceil(8 * 1024 / 9))
  await made.return(undefined)
  t.same(readers.pageSize, alone, 'not after a break')
  await t.rejects(reading(readers, 100, Infinity, () => true).made.next(), { message: 'gone' })
  t.same(readers.pageSize, alone, 'not after a failure')
  for await (const page of reading(readers, 100).made) t.ok(page.length > 0)
  t.same(readers.pageSize, alone, 'not after the end')
})

t.test('who wants few events is read few, and nothing ahead of them', async (t) => {
  const { asked, made } = reading(new Readers(), 100, 5)
  t.equal((await made.next()).value?.length, 5)
  t.same(asked, [5])
  await made.return(undefined)
})
