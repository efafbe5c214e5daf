// A backup that is made under load is whole: what was acknowledged before it is there after a restore.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { projections } from '../../../projections/index.js'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, run } from '../../support/ringledger.js'
import { databaseUrlOf, localWebhooks, startService, type RunningService } from '../../support/running-service.js'

const folder = dataDir(t)
const file = join(folder, 'ringledger.backup')
const secondDir = dataDir(t)
const hook = await receiver(t)
const env = { ...localWebhooks, LOG_LEVEL: 'silent' }
const acknowledged = { assistants: [] as number[], calls: [] as string[] }

t.setTimeout(300_000)
t.test('a backup under load is of one instant, and holds what was acknowledged before it began', async (t) => {
  const first = await startService(t, { env })
  const writing = write(first)
  await eventually(async () => acknowledged.calls.length > 30 && (await delivered(first)).length > 10, 60_000)
  const before = structuredClone(acknowledged)
  const sent = await delivered(first)
  const { code, stdout, stderr } = await run(t, ['backup', file, '--json'], { DATA_DIR: first.dataDir })
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { file, postgres: /^18\./, secrets: [/SECRET_KEY/, /password/], elsewhere: [] })
  t.equal(statSync(file).mode & 0o777, 0o600, 'only its owner can read it')
  t.ok(acknowledged.calls.length > before.calls.length, 'commands were written meanwhile')
  await first.kill()
  await writing
  await first.process.gone()
  const idsBefore = new Set(hook.received.map(idOf))

  const restored = await run(t, ['restore', file], { DATA_DIR: secondDir })
  t.equal(restored.code, 0, restored.stderr)
  t.match(restored.stderr, /Restored .* of 20/)
  const second = await startService(t, { dataDir: secondDir, env })
  await everythingIsThere(t, second, before)
  await nothingTwice(t, second, sent, idsBefore)
  const checks = projections.map(({ name }) => ['projections', 'verify', name])
  for (const check of [...checks, ['ids', 'check']]) {
    const checked = await run(t, check, { DATA_DIR: second.dataDir })
    t.equal(checked.code, 0, checked.stderr)
  }
  t.equal((await second.stop()).code, 0)
})

t.test('it is made where nothing runs, too, and replaces a file only when it is asked to', async (t) => {
  const backUp = (...options: string[]) => run(t, ['backup', file, ...options], { DATA_DIR: secondDir })
  t.match(await backUp(), { code: 1, stderr: /is there already: .* --overwrite/ })
  const { code, stderr } = await backUp('--overwrite')
  t.equal(code, 0, stderr)
  t.match(stderr, /generated secrets \(JWT_SECRET, SECRET_KEY, LEAD_DIGEST_KEY\)[^]*mode 0600/)
})

/** Creates assistants and completes calls, several at a time, until the service is gone. */
async function write (service: RunningService): Promise<void> {
  const [user, engine] = await Promise.all([service.token('1'), service.token('engine', 'engine')])
  const writer = async (number: number) => {
    for (let count = 1; ; count++) {
      const name = `${number}-${count}`
      const created = await service.call('POST', '/user/assistant', {
        token: user, body: newAssistant({ assistant_name: name, is_webhook_active: true, webhook_url: hook.url })
      })
      const id = created.body.data?.id ?? 0
      if (created.status === 201) acknowledged.assistants.push(id)
      const body = callReport(id)
      const { status } = await service.call('POST', `/engine/calls/${name}/completed`, { token: engine, body })
      if (status === 202) acknowledged.calls.push(name)
    }
  }
  await Promise.allSettled([1, 2, 3].map(writer)) // each ends when its request finds nobody
}

const idOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['webhook-id'])

/** The ids of what the service has noted as delivered. */
const delivered = (service: RunningService) =>
  query<{ id: string }>(service, "SELECT id FROM ledger.webhook_deliveries WHERE status = 'delivered'")
    .then((rows) => rows.map(({ id }) => id))

async function query<Row extends pg.QueryResultRow> ({ dataDir }: RunningService, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrlOf(dataDir) })
  await client.connect()
  const { rows } = await client.query<Row>(sql)
  await client.end()
  return rows
}

async function everythingIsThere (t: Test, service: RunningService, before: typeof acknowledged): Promise<void> {
  const token = await service.token('1')
  for (const id of before.assistants) {
    const { status } = await service.call('PUT', `/user/assistant/${id}`, { token, body: {} })
    if (status !== 200) t.fail(`assistant ${id} is lost: ${status}`)
  }
  const calls = () => query<{ call_id: string }>(service, 'SELECT call_id FROM ledger.webhook_deliveries')
  const found = new Set((await calls()).map(({ call_id: call }) => call))
  t.same(before.calls.filter((call) => !found.has(call)), [], 'every call has its delivery')
  t.pass(`${before.assistants.length} assistants and ${before.calls.length} calls are there`)
}

/** What the backup knew as delivered is not sent; the rest is, and keeps its id where it was sent after the backup. */
async function nothingTwice (t: Test, service: RunningService, sent: string[], earlier: Set<string>): Promise<void> {
  const open = "SELECT id FROM ledger.webhook_deliveries WHERE status IN ('scheduled', 'held')"
  await eventually(async () => (await query(service, open)).length === 0, 60_000)
  const times = new Map<string, number>()
  for (const id of hook.received.map(idOf)) times.set(id, (times.get(id) ?? 0) + 1)
  t.same(sent.filter((id) => times.get(id) !== 1), [], 'what was delivered before the backup was sent once')
  const restored = new Set(await delivered(service))
  t.ok([...restored].every((id) => times.has(id)), 'everything was sent')
  t.ok([...times].every(([id]) => earlier.has(id) || restored.has(id)), 'under the ids that it has')
}
