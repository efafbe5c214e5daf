// Every example works as examples/README.md says.
import { execFile } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
import { dataDir, run } from '../../support/ringledger.js'
import { eventually } from '../../support/eventually.js'
import { eventStoreOf, localWebhooks, startService } from '../../support/running-service.js'

const service = await startService(t, { env: localWebhooks })
const environment = { ...process.env, DATA_DIR: service.dataDir, RINGLEDGER_NO_DOTENV: '1' }
const example = async (program: string, args: string[], env: Record<string, string>) =>
  await promisify(execFile)(program, args, { env: { ...environment, ...env } })

t.test('the walkthrough leads to a webhook at its receiver', async (t) => {
  const RECEIVER_PORT = String(await freePort())
  const { stdout } = await example('bash', ['examples/walkthrough.sh'], { API: service.url, RECEIVER_PORT })
  t.match(stdout, 'call.completed walkthrough-1: A table for two was booked.')
  t.match(stdout, /"status":"delivered"/)
})

t.test('the call engine reports a call by event, once however often it repeats it', async (t) => {
  const report = JSON.parse(await readFile('examples/completed-call.json', 'utf8'))
  const EVENTSTORE_URL = eventStoreOf(service.dataDir)
  const reported = (file: string) => example(process.execPath, ['dist/examples/call-engine.js', file], { EVENTSTORE_URL })
  t.match((await reported('examples/completed-call.json')).stdout, 'call-1 is in the log')
  t.match((await reported('examples/completed-call.json')).stdout, 'call-1 is in the log', 'a repeat is a success')
  const token = await service.token('1')
  await eventually(async () => (await service.call('GET', `/user/call/${report.call_id}`, { token })).status === 200)

  const file = join(dataDir(t), 'other.json')
  await writeFile(file, JSON.stringify({ ...report, call_id: 'by-file' }))
  const env = { DATA_DIR: service.dataDir }
  t.equal(
    (await run(t, ['calls', 'complete', file], env)).code, 0, 'the completed call is taken by the command as well'
  )
  t.match((await reported(file)).stdout, 'by-file was reported before, and that report stands')
})

t.test('a receiver without its secret says what it needs', async (t) => {
  await t.rejects(example(process.execPath, ['dist/examples/receiver.js'], { WEBHOOK_SECRET: '' }), {
    code: 1, stderr: /Set WEBHOOK_SECRET/
  })
})

t.test('every example stands in the list', async (t) => {
  const list = await readFile('examples/README.md', 'utf8')
  const named = [...list.matchAll(/^\| \[`([^`]+)`\]/gm)].map(([, name]) => name)
  t.same(named.sort(), (await readdir('examples')).filter((name) => name !== 'README.md').sort())
})
