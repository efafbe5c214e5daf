// Every example works as examples/README.md says.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { freePort } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
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

t.test('the call engine reports a call by event', async (t) => {
  const { call_id: id } = JSON.parse(await readFile('examples/completed-call.json', 'utf8'))
  const env = { EVENTSTORE_URL: eventStoreOf(service.dataDir) }
  const { stdout } = await example(process.execPath, ['dist/examples/call-engine.js', 'examples/completed-call.json'], env)
  t.match(stdout, `${id} is in the log`)
  const token = await service.token('1')
  await eventually(async () => (await service.call('GET', `/user/call/${id}`, { token })).status === 200)
})
