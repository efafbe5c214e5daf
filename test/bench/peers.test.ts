// What is measured beside peers is the same work: their leads are those of the log, and a table shows medians.
import t from 'tap'
import { inventory } from '../../bench/log/inventory.js'
import { withTwins } from '../../bench/peers/twins.js'

const sizes = { users: 3, assistants: 6, leads: 40 }
const log = [...inventory(sizes)]
const both = [...withTwins(inventory(sizes))]

t.test('each lead has one twin with what it holds, on a stream of its own, after the log', async (t) => {
  t.strictSame(both.slice(0, log.length), log)
  const leads = log.filter(({ type }) => type === 'LeadCreated')
  const twins = both.slice(log.length)
  t.equal(leads.length, sizes.leads)
  t.strictSame(twins.map(({ type, revision }) => `${type} ${revision}`), leads.map(() => 'PeerLeadCreated 0'))
  for (const [nth, { data }] of twins.entries()) t.match(leads[nth]?.data, data)
  const streams = new Set(both.map(({ stream, revision }) => `${stream}@${revision}`))
  t.equal(streams.size, both.length)
  t.equal(new Set(both.map(({ id }) => id)).size, both.length)
})
