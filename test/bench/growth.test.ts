// The bench of growth draws what it measured, and its long streams are ones that the service could have written.
import t from 'tap'
import { chart } from '../../bench/growth/chart.js'
import { logOf, longAssistant } from '../../bench/growth/log.js'
import { decode } from '../../src/domain/events.js'

const figures = (perSecond: number) =>
  ({ requests: 100, perSecond, p50: 7, p99: 21, cpu: { api: 1 }, memory: {}, peak: {} })

t.test('after the history come three assistants of each length, and readers decode all of it', async (t) => {
  const lengths = [2, 5]
  const log = [...logOf(1_000, lengths)]
  t.equal(log.length, 1_000 + 3 * (1 + 2) + 3 * (1 + 5))
  for (const updates of lengths) {
    const stream = `assistant-${longAssistant(lengths, updates, 2)}`
    const revisions = log.filter((event) => event.stream === stream).map(({ revision }) => revision)
    t.strictSame(revisions, Array.from({ length: updates + 1 }, (_, revision) => revision))
  }
  const places = new Set(log.map(({ stream, revision }) => `${stream}@${revision}`))
  t.equal(places.size, log.length)
  for (const { stream, revision, type, data, metadata } of log.slice(1_000)) {
    const stored = { stream, revision: BigInt(revision), type, data: JSON.parse(JSON.stringify(data)), metadata }
    t.equal(decode(stored)?.type, type)
  }
})

t.test('the chart of growth is a picture by itself', async (t) => {
  const requests = { 'POST lead': figures(300), 'PUT assistant': figures(200), 'GET lead': figures(900) }
  const streams = [
    { updates: 10, cold: 9, next: 9, warm: 7, read: 2 },
    { updates: 10_000, cold: 900, next: 40, warm: 7, read: 2 }
  ]
  const filled = { seconds: 1, eventsPerSecond: 1_000 }
  const svg = chart([10_000, 1_000_000].map((events) => ({ events, filled, requests, streams, disk: {} })))
  t.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" /)
  t.notMatch(svg, /NaN|Infinity|href|<script|<image/)
  t.equal([...svg.matchAll(/<polyline points="[^"]+ [^"]+"/g)].length, 6, 'a line for whatever was measured at both ends')
})
