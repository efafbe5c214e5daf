// Words as searches compare them, and lists with so many rows that the index of words is not asked.
import t from 'tap'
import { findLeads } from '../../projections/find-leads.js'
import { ensureProjections } from '../../projections/generations/generations.js'
import { projections } from '../../projections/index.js'
import { wordsOf } from '../../projections/search.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { fillLeads } from '../support/projections/filled-tables.js'

t.test('words are folded, marked by their user, and each is there once', (t) => {
  const words = (...texts: string[]) => wordsOf('1', ...texts).split(' ').map((word) => word.slice(8))
  t.match(wordsOf('1', 'Ada'), /^[\da-f]{8}ada$/)
  t.not(wordsOf('1', 'Ada'), wordsOf('2', 'Ada'))
  t.strictSame(words('José ÉLYSÉE', 'jose.elysee@example.com'), ['jose', 'elysee', 'example', 'com'])
  t.strictSame(words('O’Neil-Smith', "rock'n'roll"), ['oneil', 'o', 'neil', 'smith', 'rocknroll', 'rock', 'n', 'roll'])
  t.strictSame(words('Straße Łódź Søren ﬁve １２'), ['strasse', 'lodz', 'soren', 'five', '12'])
  t.strictSame(words('王小明 Иван'), ['王小明', 'иван'])
  t.equal(wordsOf('1', '%_ \0 \ud83d 😀', ''), '')
  t.equal(words('x'.repeat(9_999))[0]?.length, 255)
  t.end()
})

t.test('a list of many rows', async (t) => {
  const { pool } = await scratchLedger(t)
  await ensureProjections(pool, projections, async () => true)
  await fillLeads(pool, 45_000)
  const find = async (searched: string, page: { page: number } | { after: string[] } = { page: 1 }) => {
    const { items, total, next } = await findLeads(pool, { userId: '1', searched }, { perPage: 2, ...page })
    return { ids: items.map(({ lead }) => lead.id), total, next }
  }
  t.match(await find('ada'), { ids: [45_000, 44_998], total: { count: 3, isExact: false } }, 'all fit: none is counted')
  t.match(await find('ada', { page: 3 }), { ids: [44_992, 44_990], total: { count: 7, isExact: false } })
  t.match(await find('ada', { page: 1_000_000 }), { ids: [], total: { count: 0, isExact: false } })
  const few = await find('ada example101')
  t.match(few, { ids: [42_100, 39_100], total: { isExact: true } }, 'leads of contacts 42101 and 39101')
  const walked = [...few.ids]
  for (let { next } = few; next;) {
    const page = await find('ada example101', { after: next })
    walked.push(...page.ids)
    next = page.next
  }
  t.equal(walked.length, few.total?.count)
  t.strictSame(walked, walked.toSorted((one, other) => other - one))
  t.equal(new Set(walked).size, walked.length)
  t.match(await find('ada nobody'), { ids: [], total: { count: 0, isExact: true } })
})
