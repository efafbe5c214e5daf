// A command refuses what cannot work: it names the setting or file, says how to mend it, and fails.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { closedPort } from '@ringledger/embedded-postgres/testing'
import { packageRoot } from '../../src/package-root.js'
import { openPool } from '../../src/postgres/pool.js'
import { readable } from '../../src/cli/output.js'
import { bin, reasonIn, dataDir, runWarm, type Environment } from '../support/ringledger.js'
import { doctor } from './doctor/doctor.js'
import { smallDisk } from '../support/back-ends/small-disk.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { secrets } from '../support/auth/secrets.js'

const folder = dataDir(t)

async function refused (t: Test, args: readonly string[], env: Environment, wanted: RegExp[]): Promise<string> {
  const all = { DATA_DIR: join(folder, 'data'), ...env }
  const { code, stdout, stderr } = await runWarm(args, all)
  t.equal(code, 1, 'exit status 1')
  const reason = reasonIn(stderr).trimEnd().replace(/^ringledger: /, '')
  for (const words of wanted) t.match(reason, words)
  t.notMatch(reason, /^ +at /m, 'no stack')
  t.equal(stdout, '')
  return reason
}

/** By a command and by the doctor, in the same words. */
async function refusedByBoth (
  t: Test, args: readonly string[], env: Environment, wanted: RegExp[], [part, check]: [string, string]
) {
  const [reason, { findings, find }] = await Promise.all([
    refused(t, args, env, wanted), doctor(t, { DATA_DIR: join(folder, 'data'), ...env })
  ])
  const { found, mend } = find(part, check) ?? {}
  t.equal(`${found}. ${mend}`, reason)
  return findings
}

t.test('an unknown command, option or argument is refused', async (t) => {
  await refused(t, ['statr'], {}, [/unknown command 'statr'/, /Usage: ringledger/])
  await refused(t, ['event-store', '--port', '70000'], {}, [/must be a port from 0 to 65535/])
})

const skip = existsSync('/dev/full') ? false : '/dev/full is not here'

t.test('a command whose output finds the disk full says so, and fails', { skip }, (t) => {
  const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const
  const { status, stderr } = spawnSync(process.execPath, [bin, 'completion', 'bash'], { stdio: [...stdio], encoding: 'utf8' })
  t.strictSame([status, stderr], [1, 'ringledger: the output cannot be written: ENOSPC: no space left on device, write\n'])
  t.end()
})

t.test('a DATA_DIR that cannot be used is named, by every command that needs it', async (t) => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const torn = t.testdir({ 'secrets.json': '{"jwtSecret":"hunter2' })
  const disk = smallDisk(t, 1)
  const full = typeof disk === 'string' ? disk : disk.path
  if (typeof disk === 'string') t.comment(disk)
  else disk.fill()
  const directory = /^DATA_DIR \S+ cannot be used: .*directory\. Make it .*, or set DATA_DIR to another one\.$/
  for (const [unusable, args, told, check] of [
    [file, ['start'], directory, 'used by'],
    [file, ['projections', 'list'], directory],
    [torn, ['start'], /cannot be used: secrets\.json lacks a secret\. Restore that file from a backup, or set DATA_DIR/, 'secrets'],
    ...typeof disk === 'string' ? [] : [[full, ['start'], /^DATA_DIR \S+ cannot be used: the disk is full\. Make it/] as const]
  ] as const) {
    const env = { DATA_DIR: unusable }
    if (check) await refusedByBoth(t, args, env, [told], ['DATA_DIR', check])
    else await refused(t, args, env, [told])
  }
})

t.test('a Postgres that does not answer is told by its setting', async (t) => {
  const env = { ...secrets, DATABASE_URL: `postgres://nobody@127.0.0.1:${closedPort}/nothing` }
  const wanted = [/Postgres did not answer: .*ECONNREFUSED/, /Check that it runs and that DATABASE_URL leads to it/]
  await refused(t, ['start'], env, wanted)
  const DATABASE_URL = `postgres://localhost:${closedPort}/nothing?user=nobody&password=not@hunter2`
  t.notMatch(await refused(t, ['migrate'], { ...env, DATABASE_URL }, wanted), /hunter2/)
})

t.test('an event store that does not answer is told by its setting', async (t) => {
  const { url } = await scratchPostgres(t)
  const env = { ...secrets, DATABASE_URL: url, EVENTSTORE_URL: `esdb+discover://127.0.0.1:${closedPort}?tls=false` }
  const wanted = [/The event store did not answer: /, /EVENTSTORE_URL leads to it/]
  const findings = await refusedByBoth(t, ['worker'], env, wanted, ['Event store', 'reachable'])
  t.same(findings.filter(({ part, level }) => part === 'Service' && level === 'error'), [], 'and nothing else for it')
})

t.test('files that are not there or not right are named', async (t) => {
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  await refused(t, ['catalog', 'import', file('text.json', 'voices')], {}, [/text\.json is not JSON/])
  await refused(t, ['catalog', 'import', file('odd.json', '{"voices":[{"id":"1"}],"languages":[""]}')], {}, [
    /odd\.json is not a catalogue/, /voices\.0\.id must be an integer/, /voices\.0\.name is required/,
    /languages\.0 must not be empty/
  ])
  await refused(t, ['calls', 'complete', join(folder, 'none.json')], {}, [/none\.json is not a completed call: ENOENT/])
  const latin1 = file('latin1.json', Buffer.from('{"call_id":"café"}', 'latin1'))
  await refused(t, ['calls', 'complete', latin1], {}, [/latin1\.json is not a completed call: line 1 has bytes that are not UTF-8/])
  await refused(t, ['projections', 'replay', 'leeds'], {}, [/no projection leeds: choose one of assistants, leads, calls/])
  t.notOk(readdirSync(folder).includes('data'), 'and nothing was started for it')
})

t.test('where nothing runs, a command makes nothing, and says where to look', async (t) => {
  const { url } = await scratchPostgres(t)
  const wanted = [/nothing runs here: DATABASE_URL leads to a database without our tables. Set it to the one/]
  await refused(t, ['events', 'export', '-'], { ...secrets, DATABASE_URL: url }, wanted)
  const pool = openPool(url, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  const { rows } = await pool.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(ledger|read_|eventstore)'")
  t.same(rows, [])
})

t.test('a Node that is too old is refused before anything of ours is read', (t) => {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.4"}})'
  const args = ['--import', old, join(packageRoot, 'bin/ringledger.js')]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  t.strictSame([status, stdout], [1, ''])
  t.match(stderr, /^\S+ needs Node \d+\.\d+\.\d+ or later, this is 18\.20\.4: install that version\.\n$/)
  t.end()
})

t.test('tokens are not made where they could not be good', async (t) => {
  const jwks = {
    JWT_JWKS_URL: 'https://issuer.example.com/jwks.json', JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'ringledger'
  }
  await refused(t, ['token', '--user', '1'], jwks, [/only with JWT_SECRET can they be made here/])
  await refused(t, ['token', '--user', '1', '--role', 'admin'], secrets, [/--role/])
})

t.test('a refusal to start is one line, at level fatal', async (t) => {
  for (const role of ['start', 'projector']) {
    const { code, stdout, stderr } = await runWarm([role], { DATA_DIR: dataDir(t), PORT: 'x', SECRET_KEY: 'short' })
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: /^.*\n$/ })
    t.equal(JSON.parse(stderr).level, 60)
    t.match(reasonIn(stderr), /^These settings are not right:\n {2}PORT .*\n {2}SECRET_KEY /)
  }
})

t.test('on a terminal a line of the log is a sentence, which cannot steer it', async (t) => {
  const time = new Date(2026, 0, 31, 9, 5, 7).getTime()
  const line = { level: 40, time, method: 'GET', ms: 1.5, err: { message: 'gone\u001b[2J', stack: 'Error: gone\n at x' }, msg: 'away' }
  t.equal(readable(`${JSON.stringify(line)}\n`), '09:05:07 warn away method=GET ms=1.5 error=gone·[2J\n')
})

t.test('a command whose reader has ended, such as head, ends in silence', async (t) => {
  const child = spawn(process.execPath, [bin, 'completion', 'bash'])
  child.stdout.destroy()
  t.equal(await text(child.stderr), '')
})
