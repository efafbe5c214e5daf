// A command that only asks is quick beside a running service: it loads nothing that runs back ends or migrations.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { dataDir, run } from '../support/ringledger.js'
import { startService } from '../support/running-service.js'

const recorder = pathToFileURL(join(packageRoot, 'test/support/processes/record-loads.js')).href
const file = join(dataDir(t), 'loaded')

t.test('beside a start, a command loads no embedded back end and no runner of migrations', async (t) => {
  const service = await startService(t)
  const env = { DATA_DIR: service.dataDir, NODE_OPTIONS: `--import ${recorder}`, RECORD_LOADS: file }
  const { code, stderr } = await run(t, ['projections', 'list', '--json'], env)
  t.equal(code, 0, stderr)
  const loaded = [...new Set(readFileSync(file, 'utf8').split('\n'))]
  t.ok(loaded.some((url) => url.includes('eventstore__db-client')), 'it asks the event store')
  const needless = /embedded-event-store|embedded-postgres\/dist\/src\/(postgres|server|cluster\/cluster)|own-stack|node-pg-migrate|re2js|fastify|bullmq/
  t.same(loaded.filter((url) => needless.test(url)), [])
})
