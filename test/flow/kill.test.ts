// What was acknowledged survives kill -9 at any instant: the assistant is there, the call is delivered once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callReport, newAssistant } from '../support/bodies/bodies.js'
import { chaos, killAll } from '@ringledger/embedded-postgres/testing'
import { eventually } from '../support/eventually.js'
import { receiver } from '../support/receivers/receiver.js'
import { startedDataDir } from '../support/ringledger.js'
import { localWebhooks, startService, type RunningService } from '../support/running-service.js'

const { rounds, seed, instant } = chaos(t, 'kill', 1, 300_000)
const folder = await startedDataDir(t)
const hook = await receiver(t)
// An attempt that a kill broke off counts as abandoned after twice the deadline, here 4 s.
const env = { ...localWebhooks, READ_MODEL_WAIT_MS: '200', WEBHOOK_TIMEOUT_MS: '2000' }

const assistants = new Map<number, string>()
const calls: string[] = []

t.test(`${rounds} rounds of kill -9 right after acknowledged commands (CHAOS_SEED=${seed})`, async (t) => {
  for (let round = 1; round <= rounds; round++) {
    const service = await startService(t, { dataDir: folder, env })
    await everythingIsThere(t, service)
    const before = calls.length
    const writing = write(service, round)
    await eventually(() => calls.length > before)
    await instant(150)
    const isWhole = round % 2 === 1
    if (isWhole) killAll(service.process.processes())
    else await service.kill()
    await writing
    t.pass(`round ${round}: killed ${isWhole
      ? 'every process'
      : 'the process group'} with ${assistants.size} assistants and ${calls.length} calls acknowledged`)
  }
  const service = await startService(t, { dataDir: folder, env })
  await everythingIsThere(t, service)
  await eventStoreDies(t, service)
})

/** Without a back end of its own the service cannot go on: it says so, and ends to be restarted. */
async function eventStoreDies (t: Test, { process: service }: RunningService): Promise<void> {
  const { pids }: { pids: { eventStore: number } } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  process.kill(pids.eventStore, 'SIGKILL')
  t.equal((await service.ended).code, 1, 'a service whose event store died ends with exit status 1')
  t.match(service.stdout(), /The embedded event store stopped unexpectedly \(killed by SIGKILL\); .* says why/)
  t.same(service.processes(), [], 'and leaves no process')
}

/** Creates assistants and completes calls, several at a time, until the service is gone; notes what it acknowledged. */
async function write (service: RunningService, round: number): Promise<void> {
  const user = await service.token('1')
  const engine = await service.token('engine', 'engine')
  const writer = async (number: number) => {
    for (let count = 1; ; count++) {
      const name = `${round}-${number}-${count}`
      const created = await service.call('POST', '/user/assistant', {
        token: user, body: newAssistant({ assistant_name: name, is_webhook_active: true, webhook_url: hook.url })
      })
      const id = created.body.data?.id ?? 0
      if (created.status === 201) assistants.set(id, name)
      const completed = await service.call('POST', `/engine/calls/${name}/completed`, {
        token: engine, body: callReport(id)
      })
      if (completed.status === 202) calls.push(name)
    }
  }
  await Promise.allSettled([1, 2, 3].map(writer)) // each ends when its request finds nobody
}

async function everythingIsThere (t: Test, { call, token }: RunningService): Promise<void> {
  const user = await token('1')
  for (const [id, name] of assistants) {
    const { status, body } = await call('PUT', `/user/assistant/${id}`, { token: user, body: {} })
    if (status !== 200 || body.data?.name !== name) {
      t.fail(`assistant ${id} was acknowledged as ${name}`, { status, body })
    }
  }
  await eventually(() => {
    const missing = calls.filter((name) => !idsOf(name).length)
    if (missing.length > 0) {
      throw new Error(
      `${missing.length} of ${calls.length} acknowledged calls were not delivered: ${missing.slice(0, 5).join(', ')}`
      )
    }
  }, 60_000)
  for (const name of calls) {
    if (new Set(idsOf(name)).size !== 1) t.fail(`call ${name} was delivered under several ids`, { ids: idsOf(name) })
  }
  t.pass(`${assistants.size} assistants are there, ${calls.length} calls were delivered`)
}

function idsOf (callId: string): unknown[] {
  return hook.received.filter(({ body }) => body.includes(`"call_id":"${callId}"`))
    .map(({ headers }) => headers['webhook-id'])
}
