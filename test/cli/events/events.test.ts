// `ringledger events` as an operator runs it.
import { spawn } from 'node:child_process'
import { createReadStream, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { bin, dataDir, ringledger, runWarm, startedDataDir, type Environment } from '../../support/ringledger.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { transferable } from '../../support/events/transferable.js'
import { fillVaried } from '@ringledger/event-transfer/testing'

const postgres = await scratchPostgres(t)
const place = (t: Pick<Test, 'teardown'>, schema: string) => transferable(t, postgres, schema)
const folder = dataDir(t)
const source = await place(t, 'source')
await fillVaried(source.client, source.store)

const events = (args: readonly string[], env: Environment = {}) =>
  runWarm(['events', ...args], { DATA_DIR: join(folder, 'data'), EVENTSTORE_URL: source.url, ...env })

/** Runs a command with a file as its stdin, and answers what it wrote to stdout. */
async function piped (
  args: readonly string[], env: Environment, stdin: string
): Promise<{ code: unknown, stdout: string }> {
  const child = spawn('env', [
    '-i', ...Object.entries({ PATH: process.env.PATH, RINGLEDGER_NO_DOTENV: '1', ...env }).map(([name, value]) => `${name}=${value ?? ''}`),
    process.execPath, bin, 'events', ...args
  ], { stdio: ['pipe', 'pipe', 'inherit'] })
  const code = new Promise((resolve) => child.once('exit', resolve))
  createReadStream(stdin).pipe(child.stdin)
  return { stdout: await text(child.stdout), code: await code }
}

t.test('copy says in JSON what it verified', async (t) => {
  const target = await place(t, 'json')
  const { code, stdout } = await events(['copy', '--to', target.url, '--json', '--in-flight', '1000'])
  t.equal(code, 0)
  const first: { sha256: string, position: { source: string } } = JSON.parse(stdout)
  t.match(first, { events: 22, streams: 13, appended: 22, others: 0, sha256: /^[0-9a-f]{64}$/, source_moved_on: false })
  t.equal(first.position.source, String(await source.store.head()))
  t.match(JSON.parse((await events(['copy', '--to', target.url, '--json'])).stdout), {
    appended: 0, sha256: first.sha256
  })
})

t.test('a refusal says how to mend what cannot work', async (t) => {
  writeFileSync(join(folder, 'other.json'), '{}')
  const nowhere = 'esdb://127.0.0.1:1?tls=false'
  const cases: Array<[args: string[], wanted: RegExp, env?: Environment]> = [
    [['copy', '--to', source.url.replace('127.0.0.1', 'localhost')], /--to leads to the present event store itself/],
    [['copy', '--to', nowhere], /The target did not answer: .*Check that it runs and that --to leads to it/s],
    [['copy', '--to', 'localhost'], /--to is no connection string: write it as esdb:\/\/host:2113\?tls=false/],
    [['export'], /The event store did not answer: .*EVENTSTORE_URL leads to it/s, { EVENTSTORE_URL: nowhere }],
    [['export', join(folder, 'no/such/file')], /no\/such\/file cannot be written: ENOENT/],
    [['import', join(folder, 'none')], /none cannot be read: ENOENT/],
    [['import', join(folder, 'other.json')], /other\.json is not a Ringledger export/, { EVENTSTORE_URL: '' }]
  ]
  for (const [args, wanted, env = {}] of cases) {
    const { code, stdout, stderr } = await events(args, env)
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: wanted })
    t.notMatch(stderr, /^ +at /m, 'no stack')
  }
  t.notOk(readdirSync(folder).includes('data'), 'and nothing was started for it')
})

t.test('an export goes to stdout, and an import comes from stdin', async (t) => {
  const { code, stdout, stderr } = await events(['export'])
  t.equal(code, 0)
  t.equal(stdout.split('\n').length, 22 + 2 + 1, 'a header, the events, a last line')
  t.match(stderr, /Exported 22 events of 13 streams to stdout\. SHA-256 [0-9a-f]{64}/)
  writeFileSync(join(folder, 'piped.jsonl'), stdout)
  const target = await place(t, 'piped')
  const imported = await piped(['import', '-', '--json'], { EVENTSTORE_URL: target.url }, join(folder, 'piped.jsonl'))
  t.equal(imported.code, 0)
  const { sha256 }: { sha256: string } = JSON.parse(imported.stdout)
  t.match(stderr, sha256)
})

t.test('an export of a DATA_DIR starts its event store meanwhile, and packs a file that is named so', async (t) => {
  const packed = join(folder, 'again.jsonl.gz')
  const exporting = ringledger(t, ['events', 'export', packed], { DATA_DIR: await startedDataDir(t) })
  t.equal((await exporting.ended).code, 0)
  t.equal(exporting.stdout(), '')
  t.match(exporting.stderr(), /^Starting Postgres[^]*SHA-256 [0-9a-f]{64}/m)
  t.same(exporting.processes(), [], 'and the back ends ended with it')
  t.same(readdirSync(folder).filter((name) => name.endsWith('.part')), [])
  t.same(readFileSync(packed).subarray(0, 2), Buffer.from([0x1f, 0x8b]))
})
