// The documented backup of a production Postgres, on a server and programs of the system where there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import t, { type Test } from 'tap'
import { projections } from '../../../projections/index.js'
import { packageRoot } from '../../../src/package-root.js'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { secrets } from '../../support/auth/secrets.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, run } from '../../support/ringledger.js'
import { localWebhooks, startService, type RunningService } from '../../support/running-service.js'

/** Where Debian and the project's own packages put the programs of each version. */
const installed = '/usr/lib/postgresql'

/** The folder of its programs. */
const programs = existsSync(installed)
  ? readdirSync(installed).map((version) => join(installed, version, 'bin'))
    .filter((folder) => ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))))
    .at(-1)
  : undefined
const operations = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8')

/** The documented line that begins so, for the database that it is run on. */
function documented (begin: string): string {
  const line = operations.split('\n').map((each) => each.trim()).find((each) => each.startsWith(begin))
  if (!line) throw new Error(`docs/operations.md has no line ${begin}`)
  return line
}

t.setTimeout(180_000)
if (!programs) t.pass(`there is no Postgres in ${installed}: the documented backup is not tried`)
else t.test(`a dump of a running service is restored, with ${programs}`, (t) => roundTrip(t, programs))

async function roundTrip (t: Test, programs: string): Promise<void> {
  const hook = await receiver(t)
  const folder = dataDir(t)
  const { url } = await postgresCluster(t, { programs, fsync: false })
  const sql = (statement: string) => promisify(execFile)(join(programs, 'psql'), ['-d', url, '-c', statement])
  const on = (database: string) => url.replace(/postgres$/, database)
  await sql('CREATE DATABASE ringledger')
  const env = { ...secrets, ...localWebhooks, DATABASE_URL: on('ringledger') }
  const first = await startService(t, { dataDir: join(folder, 'first'), env })
  const assistant = await create(first, hook.url)
  await complete(first, 'before', assistant)
  await eventually(() => hook.received.length === 1)
  const shell = async (line: string, database: string) => await promisify(execFile)('sh', ['-c', line], {
    cwd: folder, env: { PATH: `${programs}:${process.env.PATH ?? ''}`, DATABASE_URL: on(database) }
  })
  await Promise.all([shell(documented('pg_dump '), 'ringledger'), complete(first, 'meanwhile', assistant)])
  await first.stop()
  await sql('CREATE DATABASE restored')
  await shell(documented('pg_restore '), 'restored')
  const second = await startService(
    t, { dataDir: join(folder, 'second'), env: { ...env, DATABASE_URL: on('restored') } }
  )
  const read = { token: await second.token('1') }
  t.equal((await second.call('GET', `/user/assistant/${assistant}`, read)).status, 200)
  t.equal((await second.call('GET', '/user/call/before', read)).status, 200)
  await second.stop()
  const alone = { ...env, DATABASE_URL: on('restored'), DATA_DIR: join(folder, 'second') }
  const checks = projections.map(({ name }) => ['projections', 'verify', name])
  for (const check of [...checks, ['ids', 'check']]) {
    const checked = await run(t, check, alone)
    t.equal(checked.code, 0, checked.stderr)
  }
  t.equal(hook.received.filter(({ body }) => body.includes('"before"')).length, 1, 'nothing is sent again')
}

async function create ({ call, token }: RunningService, webhookUrl: string): Promise<number> {
  const body = newAssistant({ voice_id: 1, is_webhook_active: true, webhook_url: webhookUrl })
  const created = await call('POST', '/user/assistant', { token: await token('1'), body })
  return created.body.data?.id ?? 0
}

async function complete ({ call, token }: RunningService, id: string, assistant: number): Promise<void> {
  const request = { token: await token('engine', 'engine'), body: callReport(assistant) }
  await call('POST', `/engine/calls/${id}/completed`, request)
}
