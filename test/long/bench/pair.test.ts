// `npm run bench -- --beside DIR` drives two checkouts, here this one twice, and ends with every row of both.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Missing, Row } from '../../../bench/pair/rows.js'
import { isRedisThere } from '../../../bench/support/redis.js'
import { run } from '../../../bench/support/run.js'
import { packageRoot } from '../../../src/package-root.js'

const small = ['--quick', '--rounds', '1', '--seconds', '1', '--warm', '1', '--calls', '200']

t.test('a short run beside the same checkout has all rows, and asks both for the same statements', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ringledger-results-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const out = join(dir, 'results.json')
  const { stdout } = await run([join(packageRoot, 'dist/bench/main.js'), ...small, '--beside', packageRoot, '--out', out])
  const { rows, missing }: { rows: Row[], missing: Missing[] } = JSON.parse(readFileSync(out, 'utf8'))
  t.same(missing, isRedisThere() ? [] : [{ name: 'queue on Redis', reason: 'redis-server is not on the PATH' }])
  const measured = new Set(rows.map(({ name }) => name.split(':')[0]))
  for (const scene of [
    'replay calls', 'append', 'read $all', 'POST lead, 1 in flight', 'POST lead, 32 in flight',
    'PUT assistant, 32 in flight', 'GET lead, 32 in flight', 'GET leads, 32 in flight', 'import leads',
    ...(isRedisThere() ? ['Postgres', 'Redis'] : ['Postgres']).flatMap((queue) => [
      `calls, 20 a second, queue on ${queue}`, `calls, 64 reports in flight, queue on ${queue}`, `peak memory, queue on ${queue}`
    ]), 'idle'
  ]) t.ok(measured.has(scene), scene)
  for (const { name, ours, beside } of rows) {
    t.ok(Number.isFinite(ours) && Number.isFinite(beside), name)
    t.match(stdout, name)
  }
  const single = rows.find(({ name }) => name === 'POST lead, 1 in flight: SQL of api')
  t.ok(Math.abs((single?.ratio ?? 0) - 1) < 0.2, `the same requests cost the same statements: ${single?.ratio}`)
})
