// A backup that is made in the middle of an erasure: the erasure goes on once it is restored, and nobody asks again.
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir, run } from '../../support/ringledger.js'
import { databaseUrlOf, localWebhooks, startService, type RunningService } from '../../support/running-service.js'

t.setTimeout(300_000)
const phone_number = '+15559876543'
const hook = await receiver(t, () => {}) // an erasure waits for an attempt that hangs
const env = { ...localWebhooks, WEBHOOK_TIMEOUT_MS: '60000' }

async function sender (service: RunningService) {
  const [user, engine] = [await service.token('1'), await service.token('engine', 'engine')]
  return async (method: string, path: string, body?: object) =>
    await service.call(method, path, { token: path.startsWith('/engine') ? engine : user, ...(body && { body }) })
}

/** Tables of the ledger and read models that name the number. */
async function tablesWith (service: RunningService): Promise<string[]> {
  const db = new pg.Client({ connectionString: databaseUrlOf(service.dataDir) })
  await db.connect()
  const { rows: tables } = await db.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname LIKE 'read\\_%' OR schemaname IN ('ledger', 'queue')`)
  const found: string[] = []
  for (const { name } of tables) {
    const { rowCount } = await db.query(`SELECT FROM ${name} AS row WHERE strpos(row::text, $1) > 0`, [phone_number])
    if (rowCount !== 0) found.push(name)
  }
  await db.end()
  return found
}

t.test('it goes on after the restore', async (t) => {
  const first = await startService(t, { env })
  const send = await sender(first)
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const assistant = (await send('POST', '/user/assistant', newAssistant(webhook))).body.data.id
  const lead = (await send('POST', '/user/lead', { phone_number, campaign_id: 1 })).body.data.id
  await send('POST', '/engine/calls/one/completed', callReport(assistant, { from: phone_number, lead_id: lead }))
  await eventually(() => hook.received.length === 1)
  const { id } = (await send('POST', '/user/person/erase', { phone_number })).body.data
  await eventually(async () => (await send('GET', '/user/call/one')).body.data.erased === true)
  const file = join(dataDir(t), 'ringledger.backup')
  const made = await run(t, ['backup', file], { DATA_DIR: first.dataDir })
  t.equal(made.code, 0, made.stderr)
  t.equal((await send('GET', `/user/person-request/${id}`)).body.data.status, 'processing', 'it was in the middle')
  await first.kill()
  await first.process.gone()

  const second = dataDir(t)
  const back = await run(t, ['restore', file], { DATA_DIR: second })
  t.equal(back.code, 0, back.stderr)
  const restored = await startService(t, { dataDir: second, env: { ...env, WEBHOOK_TIMEOUT_MS: '1000' } })
  const ask = await sender(restored)
  await eventually(async () => (await ask('GET', `/user/person-request/${id}`)).body.data.status === 'completed', 120_000)
  t.equal((await ask('GET', `/user/lead/${lead}`)).status, 404)
  t.match((await ask('GET', '/user/call/one')).body.data, { erased: true, from: null, transcript: null })
  t.strictSame(await tablesWith(restored), [])
  t.equal(hook.received.length, 1, 'nothing of it is sent again')
})
