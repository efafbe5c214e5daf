// A start that is interrupted, at any time, leaves no process behind.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { startedDataDir, dataDir, ringledger } from '../../support/ringledger.js'

const folder = await startedDataDir(t)

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
