// Workers that are killed with SIGKILL while they erase, and a queue that is emptied: every erasure ends, and once.
import t, { type Test } from 'tap'
import { seedOf } from '../../support/chaos.js'
import { eventually } from '../../support/eventually.js'
import { persons } from '../../support/persons/persons.js'
import { seeded } from '../../support/seeded.js'
import { testService } from '../../support/service.js'
import { twoWorkers } from '../../support/workers/killed-workers.js'
import { onEachQueue } from '../../support/workers/each-queue.js'
import type { ScratchRedis } from '../../support/back-ends/redis.js'

const kills = 20
const erased = 10
t.setTimeout(1_800_000)

async function survives (t: Test, redis?: ScratchRedis): Promise<void> {
  const service = await testService(t, ['api', 'projector'])
  const { start, kill } = twoWorkers(t, service, redis)
  await start()
  const { known, ask, isErased } = await persons(service)
  const asked = []
  for (let nth = 0; nth < erased; nth++) {
    const person = await known()
    asked.push({ person, id: await ask(person) })
  }
  const random = seeded(seedOf('CHAOS_SEED'))
  for (let nth = 1; nth <= kills; nth++) {
    await new Promise((resolve) => setTimeout(resolve, random() * 3_000)) // the instant is what is tried
    await kill()
    if (nth === 1) await (redis ? redis.flush() : service.parts.pool.query('TRUNCATE queue.job CASCADE'))
    await start()
  }
  for (const { person, id } of asked) {
    const ended = async () => (await service.call('GET', `/user/person-request/${id}`)).body.data.status === 'completed'
    await eventually(ended, 240_000)
    await isErased(t, person, id)
  }
}

onEachQueue(t, { 'workers that are killed again and again': survives })
