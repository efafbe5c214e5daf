// A small main program: holds a DATA_DIR, starts its Postgres, prints it, and closes it on a signal or at once.
import { explained, prepareDataDir } from '../../src/data-dir.js'
import { startPostgres } from '../../src/index.js'
import { acquireLock, DataDirInUseError } from '../../src/lock.js'
import { say, signalled } from './main-program.js'

const [path = '', how = 'stay'] = process.argv.slice(2)
const asked = how === 'stay' ? signalled() : Promise.resolve()

try {
  const dataDir = prepareDataDir(path)
  await run(dataDir).catch((error: unknown) => { throw explained(dataDir, error) })
} catch (error) {
  say({ refused: error instanceof Error ? error.message : String(error), inUse: error instanceof DataDirInUseError })
  process.exit(1)
}

async function run (dataDir: string): Promise<void> {
  const { lock, heldBy } = await acquireLock(dataDir, 'start', 'postgres-main')
  if (heldBy !== undefined) throw new DataDirInUseError(dataDir, heldBy)
  try {
    const postgres = await startPostgres({ dir: dataDir, log: (line) => say({ log: line }) })
    const pids = { postgres: postgres.pid, postgresSupervisor: postgres.supervisorPid }
    say({ opened: { databaseUrl: postgres.url, pids } })
    void postgres.lost.then((error) => say({ lost: error.message }))
    await asked
    await postgres.close()
    say({ closed: true })
  } finally {
    lock.release()
  }
}
