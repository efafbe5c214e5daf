// An embedded Postgres that is frozen keeps no `start` that is asked to stop, and the next start has what was answered.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { dataDir } from '../../support/ringledger.js'
import { startService } from '../../support/running-service.js'

/** The promise is 5 s; the machine of the tests has other work, too. A Postgres that is waited for takes 30. */
const endsWithinMs = 8_000

if (!existsSync('/proc/self/task')) t.pass('only Linux lists the processes of Postgres')
else {
  const folder = dataDir(t)

  t.test('SIGTERM ends it in time, tells what was killed, and leaves no process', async (t) => {
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
  })

  t.test('the next start has what was answered, and stops as usual', async (t) => {
    const service = await startService(t, { dataDir: folder })
    const { body } = await service.call('GET', '/user/assistants', { token: await service.token('1') })
    t.match(body.data, [{ name: 'Kept' }])
    t.equal((await service.stop()).code, 0)
    t.notMatch(service.process.stdout(), /killed/)
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
