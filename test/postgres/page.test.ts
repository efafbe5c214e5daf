// A page has a bound in rows and in bytes, tells where it ended, and counts so far and no further.
import t from 'tap'
import { openPool } from '../../src/postgres/pool.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'

const { url } = await scratchPostgres(t)
const pool = openPool(url, { applicationName: 'pages', max: 1, onError: () => {} })
t.teardown(() => pool.end())
await pool.query('CREATE TABLE things (id bigint PRIMARY KEY, owner text, at timestamptz, data text)')
await pool.query('CREATE INDEX ON things (owner, at DESC, id DESC)')

interface Thing { id: number, size: number }
const things = (page: Page, owner: string): Promise<Paged<Thing & { data: string }>> => readPage(pool, {
  name: 'things',
  columns: 'id, at, data',
  from: 'things',
  key: 'id',
  own: [['owner = ?', owner]],
  order: { direction: 'DESC', by: { at: 'timestamptz', id: 'bigint' } },
  item: "json_build_object('id', id, 'data', data)"
}, page)
const idsOf = ({ items }: Paged<Thing>) => items.map(({ id }) => id)

/** Ids from `first` on, so many bytes each, several of them at one microsecond. */
async function add (owner: string, first: number, count: number, bytes: number): Promise<void> {
  await pool.query(`
    INSERT INTO things SELECT i, $1, timestamptz '2026-01-01' + (i / 3) * interval '1 microsecond', repeat('x', $4)
    FROM generate_series($2::bigint, $2::bigint + $3 - 1) i`, [owner, first, count, bytes])
}

/** All pages, from the first one on. */
async function walk (owner: string, perPage: number): Promise<Array<Paged<Thing>>> {
  const pages: Array<Paged<Thing>> = []
  for (let after: string[] | null = []; after;) {
    const page: Paged<Thing> = await things({ perPage, after }, owner)
    pages.push(page)
    after = page.next
  }
  return pages
}

t.test('page behind page holds every row once, also those of one microsecond', async (t) => {
  await add('walker', 1, 31, 1)
  const newestFirst = Array.from({ length: 31 }, (_, index) => 31 - index)
  for (const perPage of [1, 2, 10, 30, 31, 32]) {
    const pages = await walk('walker', perPage)
    t.strictSame(pages.flatMap(idsOf), newestFirst)
    t.equal(pages.length, Math.ceil(31 / perPage), 'no empty page at the end')
    t.notOk(pages.some(({ isCut, total }) => isCut || total !== undefined))
  }
})

t.test('a page by its number tells where the next one begins, whatever is inserted meanwhile', async (t) => {
  const { next } = await things({ page: 2, perPage: 10 }, 'walker')
  await add('walker', 32, 1, 1)
  t.strictSame(idsOf(await things({ after: next ?? [], perPage: 3 }, 'walker')), [11, 10, 9])
  t.equal((await things({ page: 4, perPage: 10 }, 'walker')).next, null)
  t.equal((await things({ page: 9, perPage: 10 }, 'walker')).next, null)
})

t.test('a page is cut before it is larger than 1 MiB, and Postgres sends no more than that', async (t) => {
  await add('large', 1_000, 100, 300 * 1024)
  const client = await pool.connect()
  const received = (): number => Reflect.get(Reflect.get(Reflect.get(client, 'connection'), 'stream'), 'bytesRead')
  client.release()
  const before = received()
  const page = await things({ page: 1, perPage: 100 }, 'large')
  t.strictSame([idsOf(page), page.isCut, page.total], [[1_099, 1_098, 1_097], true, { count: 100, isExact: true }])
  const bytes = received() - before
  t.ok(bytes > 900_000 && bytes < 2 ** 20 + 4_096, `${bytes} bytes`)
  t.strictSame(idsOf(await things({ after: page.next ?? [], perPage: 2 }, 'large')), [1_096, 1_095])
  t.equal((await walk('large', 100)).flatMap(idsOf).length, 100, 'no row is out of reach')
})

t.test('a row that is larger than a page is a page of its own', async (t) => {
  await add('larger', 2_000, 3, 1024 * 1024 + 1)
  const pages = await walk('larger', 100)
  t.strictSame(pages.map(idsOf), [[2_002], [2_001], [2_000]])
  t.strictSame(pages.map(({ isCut }) => isCut), [true, true, false])
})

t.test('up to 10,000 matches are counted, one more is more than that', async (t) => {
  await add('many', 10_000, 10_000, 1)
  t.strictSame((await things({ page: 1, perPage: 1 }, 'many')).total, { count: 10_000, isExact: true })
  await add('many', 20_000, 5_000, 1)
  t.strictSame((await things({ page: 1, perPage: 1 }, 'many')).total, { count: 10_000, isExact: false })
  t.strictSame(idsOf(await things({ page: 15_000, perPage: 1 }, 'many')), [10_000], 'pages go on beyond that')
})
