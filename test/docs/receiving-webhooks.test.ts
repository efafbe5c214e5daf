// The guide for receivers: its code is the code that is tried here, against the vectors and against the worker.
import { once } from 'node:events'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { isSigned } from '../../docs/webhooks/is-signed.js'
import { receiver } from '../../docs/webhooks/receiver.js'
import { webhookTest } from '../../src/http/docs/examples.js'
import { deliveryId } from '../../workers/dispatch/payload.js'
import { defaultSchedule, parseSchedule } from '../../src/features/webhooks/outcome.js'
import { userSecrets } from '../../workers/deliver/secrets.js'
import { assistantCreated, callCompleted } from '../support/events/call-events.js'
import { deliveryRig } from '../support/workers/delivery-rig.js'
import { eventually } from '../support/eventually.js'
import { webhookProblems } from '../support/documents/webhook-schemas.js'
import { vectorFile, vectors, vectorText, type Vector } from './webhook-vectors.js'

const folder = 'docs/webhooks'
if (process.env.TAP_SNAPSHOT === '1') await writeFile(vectorFile, vectorText())
const guide = await readFile('docs/receiving-webhooks.md', 'utf8')
const blocks = (language: string) =>
  [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, text = '']) => of === language ? [text] : [])
const headersOf = ({ id, timestamp, signature }: Vector) =>
  ({ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })

t.test('the code in the guide is the code of the files, and every file is shown', async (t) => {
  const shown = ['ts', 'python', 'php', 'go', 'java'].flatMap(blocks).sort()
  const files = (await readdir(folder)).filter((name) => /\.(ts|py|php|go|java)$/.test(name))
  t.same(shown, (await Promise.all(files.map((name) => readFile(`${folder}/${name}`, 'utf8')))).sort())
})

t.test('the request in the guide is a true one', async (t) => {
  const [example] = vectors
  if (!example) throw new Error('unreachable')
  for (const [name, value] of Object.entries(headersOf(example))) t.match(guide, `    ${name}: ${value}\n`)
  t.strictSame(blocks('json').map((body) => JSON.parse(body)), [JSON.parse(example.body), webhookTest])
})

t.test('the timetable in the guide is the default schedule', async (t) => {
  const rows = [...guide.matchAll(/^\| \d+ \| ([^|]+) \| ([^|]*)\|$/gm)]
    .map(([, wait = '', sum = '']) => [wait.replace('at once', '0 s'), sum.trim()])
  const waits = parseSchedule(defaultSchedule)
  t.same(rows.map(([wait = '']) => parseSchedule(wait.replace(' ', '').replace('min', 'm'))[0]), waits)
  const hours = waits.reduce((sum, wait) => sum + wait) / 3_600_000
  t.match(rows.at(-1), ['24 h', `${Math.floor(hours)} h ${Math.floor(hours % 1 * 60)} min`])
})

t.test('the vectors are what the worker signs; npm run docs:webhooks writes them anew', async (t) => {
  t.equal(await readFile(vectorFile, 'utf8'), vectorText())
  for (const { name, body, valid } of vectors) if (valid) t.same(webhookProblems(body), [], name)
})

t.test('the standardwebhooks package, and the code of the guide in TypeScript, judge every vector as it says', async (t) => {
  t.teardown(() => mock.timers.reset())
  for (const vector of vectors) {
    mock.timers.reset()
    mock.timers.enable({ apis: ['Date'], now: vector.now * 1000 })
    const verify = () => new Webhook(vector.secret).verify(Buffer.from(vector.body), headersOf(vector))
    if (vector.valid) t.same(verify(), JSON.parse(vector.body), vector.name)
    else t.throws(verify, vector.name)
    t.equal(isSigned(vector.secret, headersOf(vector), Buffer.from(vector.body), vector.now), vector.valid, vector.name)
  }
})

t.test('the receiver of the guide takes what the worker sends, and is sent again what it could not keep', async (t) => {
  const rig = await deliveryRig(t)
  const { secret } = await userSecrets(rig.pool, rig.keys, '1')
  const kept: [id: string, event: unknown][] = []
  let isFirst = true
  const url = await listening(t, secret, async (id, event) => {
    if (isFirst) {
      isFirst = false
      throw new Error('the database is away')
    }
    kept.push([id, event])
  })
  await rig.tell(assistantCreated(1, { is_webhook_active: true, webhook_url: url }), callCompleted('c-1'))
  await eventually(async () => (await rig.deliveries()).every(({ status }) => status === 'delivered'))
  t.same((await rig.attempts()).map(({ status_code }) => status_code), [500, 204])
  t.same(kept, [[deliveryId('c-1'), JSON.parse(String((await rig.deliveries())[0]?.body))]])
})

t.test('the receiver of the guide refuses what is old, and what has no signature', async (t) => {
  const [old] = vectors
  if (!old) throw new Error('unreachable')
  const kept: string[] = []
  const url = await listening(t, old.secret, async (id) => { kept.push(id) })
  for (const headers of [headersOf(old), {}]) {
    t.equal((await fetch(url, { method: 'POST', headers, body: old.body })).status, 401)
  }
  t.same(kept, [])
})

async function listening (t: Test, ...given: Parameters<typeof receiver>): Promise<string> {
  const server = receiver(...given).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/hooks`
}
