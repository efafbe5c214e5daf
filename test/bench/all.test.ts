// `npm run bench` writes what was measured and nothing else, and tells which aims are missed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { atMost, measurement, share } from '../../bench/all/entry.js'
import { parts } from '../../bench/all/parts.js'
import { callEntries } from '../../bench/all/read/calls.js'
import { commandEntries } from '../../bench/all/read/commands.js'
import { table } from '../../bench/all/table.js'
import { packageRoot } from '../../src/package-root.js'

const figures = (perSecond: number) => ({
  requests: 100, calls: 100, perSecond, p50: 7, p99: 21, cpu: { api: 1, postgres: 2 }, memory: {}, peak: { api: 90 }
})

t.test('an aim that is missed says so, and one that is met', async (t) => {
  const limit = { value: 1_000, name: 'bare appends' }
  const shown = table([
    measurement({ name: 'slow', unit: 'requests/s', ours: 100, limit }, share(0.25)),
    measurement({ name: 'fast', unit: 'requests/s', ours: 300, limit, p99_ms: 15 }, atMost('p99_ms', 20))
  ], [{ name: 'other', reason: 'no such server' }])
  t.match(shown, /slow .*25 % of the limit: MISSED/)
  t.match(shown, /fast .*p99 ms 20: met/)
  t.match(shown, /2 aims, 1 of them missed/)
  t.match(shown, 'Not measured: other: no such server')
})

t.test('what is no number is null, and an aim on it is missed', async (t) => {
  const { entry, aims } = measurement({ name: 'x', unit: 'calls/s', ours: 5, cpu_ms: NaN }, atMost('cpu_ms', 6))
  t.equal(entry.cpu_ms, null)
  t.strictSame(aims, [{ text: 'CPU ms 6', isMet: false }])
})

t.test('commands are told beside bare appends, with the CPU of all processes', async (t) => {
  const row = { name: 'POST lead', inFlight: 32, figures: figures(300), limit: { name: '', perSecond: 1_000, p50: 4, p99: 9 } }
  const [found] = commandEntries(JSON.stringify({ rows: [row], limits: [] })).measurements
  t.match(
    found, { entry: { ours: 300, limit: 1_000, limit_name: 'bare appends', ratio: 0.3, cpu_ms: 3, peak_rss_mb: 90 } }
  )
  t.match(found?.aims, [{ text: '25 % of the limit', isMet: true }])
})

t.test('a queue that was not measured has no entry but a reason', async (t) => {
  const { measurements, missing } = callEntries(JSON.stringify(
    [{ queue: 'Postgres', figures: { '20/s': figures(20) }, statements: {} }]))
  t.same(measurements.map(({ entry: { name } }) => name), ['call to receiver, queue on Postgres, 20/s'])
  t.match(missing, [{ name: 'calls, queue on Redis', reason: /redis-server/ }])
})

t.test('every bench of the package is a part of it, or stands alone', async (t) => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  const benches = Object.keys(scripts).flatMap((name) => /^bench:(.+)/.exec(name)?.[1] ?? [])
  const alone = ['imports'] // it says what a row costs each process, beside no limit
  t.same([...parts.map(({ name }) => name), ...alone].sort(), benches.sort())
})
