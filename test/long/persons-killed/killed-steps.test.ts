// An erasure whose process is killed with SIGKILL at one of its steps: a second process ends it, and once.
import t, { type Test } from 'tap'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { persons } from '../../support/persons/persons.js'
import { mainProcess } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'

t.setTimeout(1_800_000)
const service = await testService(t)
const { urls, parts: { pool, streams } } = service
const { known, ask, isErased } = await persons(service)
const stopping = new AbortController()
t.teardown(() => stopping.abort())
const log = { debug () {}, info () {}, warn () {}, error () {} }
// No worker does: nothing but the processes of the test erases.
void runSubscription(dispatcher({ pool, firstDelayMs: 0, wake () {}, log }), {
  pool, streams, holder: 'test', signal: stopping.signal, log
})

const erase = (t: Test, id: string, diesAt = 0) => mainProcess<{ count: number, at: string }>(
  t, new URL('./erasing-main.js', import.meta.url), [urls.databaseUrl, urls.eventStoreUrl, id, String(diesAt)])

/** Where a process can die: what one that was not killed has passed. */
async function points (t: Test): Promise<string[]> {
  const person = await known()
  const id = await ask(person)
  const { ended, said } = erase(t, id)
  t.equal(await ended, 0)
  await isErased(t, person, id)
  return said.map(({ at }) => at)
}

await t.test('wherever the first process is killed, the second one ends it', async (t) => {
  const all = await points(t)
  for (const kind of ['the end of the key', 'an append', 'a truncation', 'what is kept', 'the scavenge', 'its end']) {
    t.ok(['before', 'after'].every((when) => all.some((at) => at.startsWith(`${when} ${kind}`))), kind)
  }
  for (const [index, at] of all.entries()) {
    await t.test(`${index}: ${at}`, async (t) => {
      const person = await known()
      const id = await ask(person)
      t.equal(await erase(t, id, index + 1).ended, 'SIGKILL')
      t.equal(await erase(t, id).ended, 0)
      await isErased(t, person, id)
    })
  }
})
