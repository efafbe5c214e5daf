// Words as searches compare them, and lists of so many rows that a search does not read all that it finds.
import t from 'tap'
import { findCalls } from '../../projections/calls.js'
import { findLeads } from '../../projections/find-leads.js'
import { ensureProjections } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import { calledAlso, wordsOf } from '../../projections/search.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { fillBusyUser, fillCalls, fillLeads } from '../long/plans/plan.js'

t.test('words are folded, and each is there once', (t) => {
  const words = (...texts: string[]) => wordsOf(...texts).split(' ')
  t.strictSame(words('José ÉLYSÉE', 'jose.elysee@example.com'), ['jose', 'elysee', 'example', 'com'])
  t.strictSame(words('O’Neil-Smith', "rock'n'roll"), ['oneil', 'o', 'neil', 'smith', 'rocknroll', 'rock', 'n', 'roll'])
  t.strictSame(words('Straße Łódź Søren ﬁve １２ 𝐀da ℌ'), ['strasse', 'lodz', 'soren', 'five', '12', 'ada', 'h'])
  t.strictSame(words('王小明 Иван'), ['王小明', 'иван'])
  t.equal(wordsOf('%_ \0 \ud83d 😀', ''), '')
  t.equal(words('x'.repeat(9_999))[0]?.length, 255)
  t.equal(words('㌖'.repeat(255))[0]?.length, 255, 'six letters each')
  t.strictSame(words('Οδυσσέας ΟΔΥΣ'), ['οδυσσεασ', 'οδυσ'], 'a final sigma is a sigma')
  t.end()
})

t.test('a list of many rows', async (t) => {
  const { pool } = await scratchLedger(t)
  await ensureProjections(pool, projections)
  await fillLeads(pool, 24_000, 10)
  const find = async (searched: string, page: { page: number } | { after: string[] } = { page: 1 }) => {
    const { items, total, next } = await findLeads(pool, { userId: '1', searched }, { perPage: 2, ...page })
    return { ids: items.map(({ lead }) => lead.id / 10), total, next }
  }
  t.match(await find('ada'), { ids: [24_000, 23_998], total: { isExact: false } }, 'all fit: not all are counted')
  t.match(await find('ada', { page: 1_000_000 }), { ids: [], total: { count: 10_000, isExact: false } })
  const few = await find('ada example101')
  t.match(few, { ids: [21_100, 18_100], total: { isExact: true } }, 'leads of contacts 21101 and 18101')
  const walked = [...few.ids]
  for (let { next } = few; next;) {
    const page = await find('ada example101', { after: next })
    walked.push(...page.ids)
    next = page.next
  }
  t.equal(walked.length, few.total?.count)
  t.strictSame(walked, [...new Set(walked)].sort((one, other) => other - one))
  t.match(await find('ada nobody'), { ids: [], total: { count: 0, isExact: true } })
  const middle = '2026-01-01T03:00:00Z'
  const findsAll = async () => {
    for (const searched of ['former left', 'left', 'example23', 'left right']) {
      const { items } = await findLeads(pool, { userId: '1', searched }, { after: [middle, '0'], perPage: 20 })
      const { rows } = await pool.query<{ id: string }>(`
        SELECT id FROM read_leads_g1.leads WHERE user_id = '1' AND primary_id IS NULL AND created_at < $2 AND id IN (
          SELECT coalesce(primary_id, id) FROM read_leads_g1.leads WHERE (' ' || words) LIKE ALL($1))
        ORDER BY created_at DESC, id DESC LIMIT 20`, [searched.split(' ').map((word) => `% ${word}%`), middle])
      t.strictSame(items.map(({ lead }) => lead.id), rows.map(({ id }) => Number(id)), searched)
    }
  }
  await findsAll()
  // A retry takes the id that was given out for its first try.
  await pool.query(`
    UPDATE read_leads_g1.leads SET created_at = timestamptz '2026-01-01' + id * 7919 % 24000 * interval '1 second' WHERE id % 31 = 0`)
  await findsAll()
  const asked = { userId: '1', createdFrom: '2026-01-01T02:00:00Z', campaignId: 4 }
  const all = await findLeads(pool, { ...asked, searched: 'exam' }, { page: 3, perPage: 100 })
  t.strictSame(all.items, (await findLeads(pool, asked, { page: 3, perPage: 100 })).items, 'as without a search')
})

t.test('a lead says when it was called, in whatever order that is known', (t) => {
  const times = Array.from({ length: 100 }, (_, i) => new Date(Date.UTC(2026, 0, 1) + i * 1_250_000).toISOString())
  const called = (times: string[]) => times.reduce(calledAlso, '')
  t.equal(called(times), called(times.toReversed()))
  t.equal(called([...times, ...times]), called(times))
  t.equal(called(times).match(/h/g)?.length, 32)
  t.equal(called(['1969-12-31T23:59:59Z']), 'd-1 h-1')
  t.end()
})

t.test('calls of many leads, and many calls of a lead', async (t) => {
  const { pool } = await scratchLedger(t)
  await ensureProjections(pool, projections)
  for (const fill of [fillLeads, fillCalls, fillBusyUser]) await fill(pool, 20_000)
  const start = new Date('2026-01-01T05:20:00Z').toISOString()
  for (const userId of ['1', 'busy']) {
    for (const searched of ['ada', 'example77', 'left right', 'example7 left']) {
      for (const range of [{}, { endedFrom: '2026-01-01T01:00:00Z', endedTo: '2026-01-01T04:00:00Z' }]) {
        const { items } = await findCalls(pool, { userId, searched, ...range }, { after: [start, '5000'], perPage: 20 })
        const { rows } = await pool.query<{ id: string }>(`
          SELECT calls.id FROM read_calls_g1.calls JOIN read_leads_g1.leads ON leads.id = lead_id AND leads.user_id = calls.user_id
          WHERE calls.user_id = $1 AND (' ' || words) LIKE ALL($2) AND ended_at < $3 AND ended_at BETWEEN $4 AND $5
          ORDER BY ended_at DESC, position DESC LIMIT 20`,
        [userId, searched.split(' ').map((word) => `% ${word}%`), start, range.endedFrom ?? '2000-01-01', range.endedTo ?? '3000-01-01'])
        t.strictSame(items.map(({ call_id }) => call_id), rows.map(({ id }) => id), `${userId}: ${searched} ${JSON.stringify(range)}`)
      }
    }
  }
  await pool.query(`
    INSERT INTO read_calls_g1.calls (id, user_id, assistant_id, lead_id, status, direction, ended_at, updated_at, summary, report, position)
    SELECT 'often-' || i, 'busy', 1, 100000077, 'completed', 'inbound', at, at, json_build_object('call_id', 'often-' || i), '{}', i * 100 + 2
    FROM generate_series(1, 1200) i CROSS JOIN LATERAL (SELECT timestamptz '2026-01-01' + i * interval '1 second' AS at) at`)
  const ids = new Set<string>()
  for (let page = 1; page <= 13; page++) {
    const found = await findCalls(pool, { userId: 'busy', searched: 'example77 left' }, { page, perPage: 100 })
    for (const { call_id } of found.items) ids.add(call_id)
  }
  t.equal(ids.size, 1_220, 'no page leaves out calls of a lead that is called often')
})
