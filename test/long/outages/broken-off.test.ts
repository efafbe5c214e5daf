// A start that is interrupted, at any time, leaves no process behind.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { startedDataDir, dataDir, ringledger } from '../../support/ringledger.js'
import { startService } from '../../support/running-service.js'

const folder = await startedDataDir(t)

t.test('SIGINT to the whole group, as Ctrl-C sends it, drains a warm start as well', async (t) => {
  const service = await startService(t, { dataDir: folder })
  t.equal((await service.stop('SIGINT')).code, 0)
  t.same(service.process.processes(), [])
})

t.test('a start that is broken off leaves nothing behind, whenever it is', async (t) => {
  // Beside its own there is initdb at first; later the supervisor, Postgres, and the event store, one after the other.
  for (const [DATA_DIR, processes] of [[dataDir(t), 2], [folder, 2], [folder, 4]] as const) {
    const starting = ringledger(t, ['start'], { DATA_DIR, PORT: '0' })
    await eventually(() => starting.processes().length >= processes)
    starting.signal('SIGINT')
    await starting.ended
    t.same(starting.processes(), [])
    t.equal(starting.stderr(), '', 'nor a complaint')
    t.notMatch(starting.stdout(), /is listening/)
  }
})
