// A disk that is full, on a real small one: nothing is lost, the answer is a 503, and the log says which disk it is.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findCluster } from '@ringledger/embedded-postgres'
import { openPool } from '../../../src/postgres/pool.js'
import { smallDisk, type SmallDisk } from '../../support/back-ends/small-disk.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { databaseUrlOf, startService, type RunningService } from '../../support/running-service.js'

t.setTimeout(180_000)

/** An assistant of about 400 KiB. */
const large = newAssistant({ variables: { notes: Array.from({ length: 40 }, () => crypto.randomUUID().repeat(280)) } })

/** Creates large assistants until `isOver`, and keeps the ids of those that were acknowledged. */
async function create (service: RunningService, isOver: (status: number) => boolean, ids: number[]): Promise<number[]> {
  const token = await service.token('1')
  const statuses: number[] = []
  for (let isDone = false; !isDone && statuses.length < 100;) {
    const answer = await service.call('POST', '/user/assistant', { token, body: large }).catch(() => undefined)
    if (answer?.status === 201) ids.push(answer.body.data.id)
    statuses.push(answer?.status ?? 0)
    isDone = isOver(answer?.status ?? 0)
  }
  return statuses
}

async function hasAll (t: Test, service: RunningService, ids: number[]): Promise<void> {
  const token = await service.token('1')
  for (const id of ids) t.equal((await service.call('GET', `/user/assistant/${id}`, { token })).status, 200, String(id))
}

/** Until the service ends: a Postgres that starts itself again with a little room has that taken too. */
async function fillWriteAheadLog (t: Test, databaseUrl: string, service: RunningService): Promise<void> {
  const pool = openPool(databaseUrl, { applicationName: 'disk-full', answerWithinMs: 5_000, onError: () => {} })
  t.teardown(() => pool.end())
  let hasEnded = false
  void service.process.ended.then(() => { hasEnded = true })
  const write = () => pool.query("SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000))")
  await eventually(async () => {
    for (let isThere = true; isThere;) isThere = await write().then(() => true, () => false)
    return hasEnded
  }, 60_000)
}

const ready = async (service: RunningService) => await service.call('GET', '/health/ready', { token: await service.token('operator', 'ops') })

interface Scene { disk: SmallDisk, dataDir: string, databaseUrl: string, service: RunningService, ids: number[] }

async function fullDiskRefuses (t: Test, { disk, dataDir, service, ids }: Scene): Promise<void> {
  t.equal((await ready(service)).status, 200)
  disk.fill()
  await eventually(async () => { // the check of writes may be the first to find it, by up to ten seconds
    const { status, body } = await ready(service)
    return status === 503 && body.checks.disk === 'failing'
  }, 20_000)
  const statuses = await create(service, (status) => status === 503, ids)
  t.strictSame([...new Set(statuses)].filter((status) => status !== 201), [503], 'no other answer')
  t.equal((await service.call('GET', '/user/assistants', { token: await service.token('1') })).status, 200)
  const lines = service.process.stdout().split('\n').filter((line) => line.includes('"level":50'))
  const told = `the disk of DATA_DIR (${findCluster(dataDir)}, with Postgres and the event log) is full`
  t.equal(lines.filter((line) => line.includes(told)).length, 1, 'told once, at level error')
  t.ok(lines.some((line) => line.includes('a disk is full')), 'and with each request')
}

async function goesOn (t: Test, { disk, service, ids }: Scene): Promise<void> {
  disk.makeRoom()
  await eventually(async () => (await ready(service)).status === 200)
  await eventually(async () => (await create(service, () => true, ids))[0] === 201)
  await hasAll(t, service, ids)
}

async function endsAndSaysSo (t: Test, { disk, dataDir, databaseUrl, service, ids }: Scene): Promise<void> {
  disk.fill()
  await fillWriteAheadLog(t, databaseUrl, service)
  t.equal((await service.process.ended).code, 1)
  t.match(service.process.stdout(), /Postgres stopped unexpectedly .* The disk of DATA_DIR is full, with .*cluster: free/)
  disk.makeRoom()
  const again = await startService(t, { dataDir })
  await hasAll(t, again, ids)
  t.strictSame((await create(again, (status) => status === 201, ids)).filter((status) => status !== 503), [201])
  await again.stop()
}

async function begin (disk: SmallDisk): Promise<Scene> {
  const dataDir = join(disk.path, 'data')
  const service = await startService(t, { dataDir })
  const scene = { disk, dataDir, databaseUrl: databaseUrlOf(dataDir), service, ids: [] }
  await create(service, () => true, scene.ids)
  return scene
}

const disk = smallDisk(t, 200)
if (typeof disk === 'string') t.comment(disk) // nothing of this can be tried there
else {
  const scene = await begin(disk)
  await t.test('a full disk is a 503 and not ready, reads go on, and the log says which', (t) => fullDiskRefuses(t, scene))
  await t.test('all goes on by itself when there is room again', (t) => goesOn(t, scene))
  await t.test('a Postgres that ends for want of room says so, and keeps what it had', (t) => endsAndSaysSo(t, scene))
}
