// A command that only asks is quick beside a running service: it loads nothing that runs back ends.
import { join } from 'node:path'
import t from 'tap'
import { loadedIn, recorder } from '../support/loads/loaded.js'
import { dataDir, run } from '../support/ringledger.js'
import { startService } from '../support/running-service.js'

const file = join(dataDir(t), 'loaded')

t.test('beside a start, a command loads no embedded back end', async (t) => {
  const service = await startService(t)
  const env = { DATA_DIR: service.dataDir, NODE_OPTIONS: `--import ${recorder}`, RECORD_LOADS: file }
  const { code, stderr } = await run(t, ['projections', 'list', '--json'], env)
  t.equal(code, 0, stderr)
  const loaded = loadedIn(file)
  t.ok(loaded.some((url) => url.includes('eventstore__db-client')), 'it asks the event store')
  const needless = /embedded-event-store|embedded-postgres\/src\/(postgres\.ts|server|cluster\/cluster)|own-stack|re2js|fastify|bullmq/
  t.same(loaded.filter((url) => needless.test(url)), [])
})
