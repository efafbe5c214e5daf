// Words as searches compare them, and lists of so many rows that a search does not read all that it finds.
import t from 'tap'
import { findLeads } from '../../projections/find-leads.js'
import { ensureProjections } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import { wordsOf } from '../../projections/search.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { fillLeads } from '../support/postgres/plan.js'

t.test('words are folded, and each is there once', (t) => {
  const words = (...texts: string[]) => wordsOf(...texts).split(' ')
  t.strictSame(words('José ÉLYSÉE', 'jose.elysee@example.com'), ['jose', 'elysee', 'example', 'com'])
  t.strictSame(words('O’Neil-Smith', "rock'n'roll"), ['oneil', 'o', 'neil', 'smith', 'rocknroll', 'rock', 'n', 'roll'])
  t.strictSame(words('Straße Łódź Søren ﬁve １２'), ['strasse', 'lodz', 'soren', 'five', '12'])
  t.strictSame(words('王小明 Иван'), ['王小明', 'иван'])
  t.equal(wordsOf('%_ \0 \ud83d 😀', ''), '')
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
  t.match(await find('ada'), { ids: [45_000, 44_998], total: { isExact: false } }, 'all fit: not all are counted')
  t.match(await find('ada', { page: 3 }), { ids: [44_992, 44_990], total: { isExact: false } })
  t.match(await find('ada', { page: 1_000_000 }), { ids: [], total: { count: 10_000, isExact: false } })
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
  // A retry takes the id that was given out for its first try.
  await pool.query(`
    UPDATE read_leads_g1.leads SET created_at = timestamptz '2026-01-01' + id * 7919 % 45000 * interval '1 second' WHERE id % 31 = 0`)
  for (const filter of [{}, { createdTo: '2026-01-01T08:00:00Z' }, { createdFrom: '2026-01-01T04:00:00Z', campaignId: 4 }]) {
    const asked = { userId: '1', ...filter }
    const all = await findLeads(pool, { ...asked, searched: 'exam' }, { page: 3, perPage: 100 })
    t.strictSame(all.items, (await findLeads(pool, asked, { page: 3, perPage: 100 })).items, JSON.stringify(filter))
    const next = all.next ?? []
    const after = await findLeads(pool, { ...asked, searched: 'a exam' }, { after: next, perPage: 100 })
    t.strictSame(after.items, (await findLeads(pool, asked, { after: next, perPage: 100 })).items, 'in the same order')
  }
})
