// Random histories of persons with events that nobody can read, with the queue in Redis, and receivers that answer what
// they got; in the end a backup. A failure shows its seed and its smallest history.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backUp, restore } from '@ringledger/embedded-postgres/backup'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import t, { type Test } from 'tap'
import { setUpService } from '../../support/back-ends/database-templates.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { fc } from '../../support/fuzz/property.js'
import { oddHistory, ways, type On, type Step } from '../../support/persons/odd-history.js'
import { receiver } from '../../support/receivers/receiver.js'
import { dataDir } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'

const minutes = Number(process.env.HISTORY_MINUTES ?? 10)
t.setTimeout((minutes + 5) * 60_000)
const hook = await receiver(t, (response, { body }) => { response.end(body) })
const step: fc.Arbitrary<Step> = fc.record({ way: fc.constantFrom(...ways), seed: fc.nat() })
const history = fc.array(step, { minLength: 1, maxLength: 40, size: 'max' })
let on: Required<On> | undefined

/** What is parked at once here would stop readers elsewhere. */
async function newService (): Promise<Required<On>> {
  const redis = await scratchRedis(t, true)
  const postgres = await postgresCluster(t, { fsync: false })
  await setUpService(postgres.url)
  const service = await testService(t, ['api'], {
    REDIS_URL: redis.url,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_SCHEDULE: '0s,1h'
  }, postgres)
  await service.parts.pool.query(`
    INSERT INTO ledger.circuit_breakers (consumer, position, streams, error, closed_at)
    SELECT 'read_' || projection || '_g' || generation, 1e18, 0, '', now() FROM ledger.generations`)
  await service.start(['projector', 'worker'])
  return { service, redis, hook: hook.url }
}

t.test('whatever is malformed or odd, an erasure completes and leaves nothing, or names what it waits for', {
  skip: noRedis()
}, async (t) => {
  const words: string[] = []
  let [count, until] = [0, performance.now() + minutes * 60_000]
  let smallestBy: number | undefined
  await fc.assert(fc.asyncProperty(history, async (steps) => {
    if (performance.now() > until) return
    on ??= await newService()
    try {
      words.push(...await oddHistory(on, steps))
      count += 1
    } catch (error) {
      on = undefined // smaller histories are tried where this one has left nothing
      smallestBy ??= until = performance.now() + 4 * 60_000
      throw error
    }
  }), { numRuns: 5_000 })
  t.comment(`${count} histories`)
  if (!on) throw new Error('no history was tried')
  await isNotInBackup(t, on, words)
})

async function isNotInBackup (
  t: Test, { service: { parts: { pool }, urls } }: On, words: readonly string[]
): Promise<void> {
  for (const command of ['ANALYZE', 'VACUUM (FULL)']) await pool.query(command)
  await pool.query('CHECKPOINT')
  const [folder, restored] = [dataDir(t), dataDir(t)]
  const file = join(folder, 'backup')
  const { signal } = new AbortController()
  const ignore = () => {}
  writeFileSync(join(folder, 'secrets.json'), '{}')
  const made = { dataDir: folder, url: urls.databaseUrl, file, overwrite: false, files: ['secrets.json'] }
  await backUp({ ...made, signal, onProgress: ignore })
  await restore({ dataDir: restored, file, command: 'restore', signal, log: ignore, onProgress: ignore })
  const files = readdirSync(restored, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.includes('/pg_wal/'))
  t.ok(paths.length > 100)
  const any = new RegExp(words.map((word) => `${word.replaceAll('.', '\\.')}(?![0-9])`).join('|'), 'i')
  const found = paths.flatMap((path) => any.exec(readFileSync(path, 'latin1'))?.[0] ?? [])
  t.strictSame(found, [], 'no file of a backup has anything of them')
}
