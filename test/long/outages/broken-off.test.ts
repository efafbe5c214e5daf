// A `start` that is interrupted, at any time, leaves no process behind, and the next one has what was answered.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { dataDir, startedDataDir, ringledger } from '../../support/ringledger.js'
import { startService } from '../../support/running-service.js'

t.test('a start that is broken off leaves nothing behind, whenever it is', async (t) => {
  // Beside its own there is initdb at first; later the supervisor, Postgres, and the event store, one after the other.
  for (const [DATA_DIR, processes] of [[dataDir(t), 2], [await startedDataDir(t), 4]] as const) {
    const starting = ringledger(t, ['start'], { DATA_DIR, PORT: '0' })
    await eventually(() => starting.processes().length >= processes)
    starting.signal('SIGINT')
    await starting.ended
    t.same(starting.processes(), [])
    t.equal(starting.stderr(), '', 'nor a complaint')
    t.notMatch(starting.stdout(), /is listening/)
  }
})

/** The promise is 5 s; the machine of the tests has other work, too. A Postgres that is waited for takes 30. */
const endsWithinMs = 8_000

if (!existsSync('/proc/self/task')) t.pass('only Linux lists the processes of Postgres')
else {
  t.test('SIGTERM ends one whose Postgres is frozen in time, tells what was killed, and leaves no process', async (t) => {
    const folder = dataDir(t)
    const service = await startService(t, { dataDir: folder })
    const body = newAssistant({ assistant_name: 'Kept' })
    const created = await service.call('POST', '/user/assistant', { token: await service.token('1'), body })
    t.equal(created.status, 201)
    const frozen = postgresOf(folder)
    t.ok(frozen.length > 5, `${frozen.length} processes`)
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    const askedAt = performance.now()
    const { code } = await service.stop()
    const tookMs = performance.now() - askedAt
    t.ok(tookMs < endsWithinMs, `it took ${Math.round(tookMs)} ms`)
    t.equal(code, 0, service.process.stderr())
    t.match(service.process.stdout(), /Postgres did not answer, so the embedded back ends were killed\..*recovers it/)
    await eventually(() => frozen.every((pid) => !existsSync(`/proc/${pid}`)))
    await service.process.gone()
    const again = await startService(t, { dataDir: folder })
    const { body: { data } } = await again.call('GET', '/user/assistants', { token: await again.token('1') })
    t.match(data, [{ name: 'Kept' }], 'the next start has what was answered')
  })
}

/** The postmaster first, as it makes the others; then its children. */
function postgresOf (folder: string): number[] {
  const { pids: { postgres } }: { pids: { postgres: number } } = JSON.parse(
    readFileSync(join(folder, 'run.json'), 'utf8')
  )
  const children = readFileSync(`/proc/${postgres}/task/${postgres}/children`, 'utf8').trim().split(' ')
  return [postgres, ...children.map(Number)]
}
