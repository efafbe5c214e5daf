// `npm run bench -- --quick` measures, and writes entries of the one shape.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Entry } from '../../../bench/all/entry.js'
import { run } from '../../../bench/support/run.js'
import { packageRoot } from '../../../src/package-root.js'

const keys = [
  'name', 'unit', 'ours', 'limit', 'limit_name', 'ratio', 'p50_ms', 'p99_ms', 'cpu_ms', 'peak_rss_mb'
]
t.test('a short run measures, writes entries of the one shape, and says what it left out', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ringledger-results-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const out = join(dir, 'results.json')
  const { stdout } = await run(
    [join(packageRoot, 'dist/bench/all/main.js'), '--quick', '--only', 'event-store,peers', '--out', out])
  const entries: Entry[] = JSON.parse(readFileSync(out, 'utf8'))
  t.match(stdout, /Not measured: peers: left out of a quick run/)
  t.same(entries.map(({ name }) => name), [
    'event store: appends, 1 in flight', 'event store: appends, 32 in flight', 'event store: $all events',
    'event store: from append to subscriber'
  ])
  for (const entry of entries) {
    t.same(Object.keys(entry), keys)
    t.ok(entry.ours > 0 && Number.isFinite(entry.ours), entry.name)
    t.match(stdout, entry.name)
    if (entry.limit !== null) t.ok(Math.abs((entry.ratio ?? 0) - entry.ours / entry.limit) < 0.01, 'the ratio is that of both')
  }
})
