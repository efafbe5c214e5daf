// What was acknowledged before a backup is there after a restore.
import { join } from 'node:path'
import t from 'tap'
import { newAssistant } from '../support/bodies/bodies.js'
import { dataDir, run, runWarm } from '../support/ringledger.js'
import { startService } from '../support/running-service.js'

t.test('a running service is backed up, restored elsewhere, and goes on there', async (t) => {
  const first = await startService(t)
  const token = await first.token('1')
  const created = await first.call('POST', '/user/assistant', { token, body: newAssistant() })
  const file = join(dataDir(t), 'ringledger.backup')
  t.match(await run(t, ['backup', file], { DATA_DIR: first.dataDir }), { code: 0 })
  await first.kill()
  await first.process.gone()

  const second = dataDir(t)
  t.match(await run(t, ['restore', file], { DATA_DIR: second }), { code: 0 })
  t.match(await runWarm(['restore', file], { DATA_DIR: second }), { code: 1 }, 'nothing that is there is overwritten')
  const restored = await startService(t, { dataDir: second })
  const read = await restored.call('GET', `/user/assistant/${created.body.data.id}`, { token: await restored.token('1') })
  t.equal(read.body.data.name, created.body.data.name)
})
