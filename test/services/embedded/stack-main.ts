// A main program in small: opens a stack, publishes it, prints it, and closes it on a signal or when asked to at once.
import { DataDirInUseError } from '@ringledger/embedded-postgres/lock'
import { say, signalled } from '@ringledger/embedded-postgres/testing'
import { openStack } from '../../../src/services/embedded/stack.js'

const [dataDir = '', role = 'start', how = 'stay'] = process.argv.slice(2)
const asked = how === 'stay' ? signalled() : Promise.resolve()

try {
  const stack = await openStack({
    dataDir,
    role: role === 'start' ? 'start' : 'command',
    command: `stack-main ${role}`,
    databaseUrl: process.env.STACK_DATABASE_URL,
    eventStoreUrl: process.env.STACK_EVENT_STORE_URL,
    eventStorePort: 0,
    log: (line) => say({ log: line })
  })
  const { databaseUrl, eventStoreUrl, joined, pids } = stack
  await stack.publish({ apiUrl: 'http://127.0.0.1:1' })
  say({ opened: { databaseUrl, eventStoreUrl, joined, pids } })
  void stack.lost.then((error) => say({ lost: error.message }))
  await asked
  await stack.close()
  say({ closed: true })
} catch (error) {
  say({ refused: error instanceof Error ? error.message : String(error), inUse: error instanceof DataDirInUseError })
  process.exit(1)
}
