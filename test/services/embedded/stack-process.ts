// Runs stack-main as a process of its own and reads what it says; nothing of it is left when the test ends.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bareNode, copiesOf, listenTo, type SaidOf, type TalkingProcess, type Teardown } from '@ringledger/embedded-postgres/testing'

interface Opened {
  databaseUrl: string
  eventStoreUrl: string
  joined: boolean
  pids: Record<string, number>
}

interface StackOptions {
  role?: 'start' | 'command'
  how?: 'stay' | 'once'
  /** Real ones are started for what is not given; undefined: the event store is a made-up URL. */
  env?: Record<string, string | undefined>
}

const main = fileURLToPath(new URL('./stack-main.js', import.meta.url))

/** Copies of a DATA_DIR with a cluster. */
export const dataDirs = (t: Teardown): Promise<(t: Teardown) => string> =>
  copiesOf(t, (dataDir) => startStack(t, dataDir, { how: 'once' }).ended)

/** Starts `stack-main` on that DATA_DIR, in a process group of its own. */
export function startStack (t: Teardown, dataDir: string, options: StackOptions = {}): TalkingProcess<SaidOf<Opened>> {
  const { role = 'start', how = 'stay', env = { STACK_EVENT_STORE_URL: 'esdb://127.0.0.1:1' } } = options
  const child = spawn('env', [...bareNode(env), main, dataDir, role, how], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit']
  })
  return listenTo<SaidOf<Opened>>(t, child, (said) => {
    const opened = said.find(({ opened }) => opened)?.opened
    return opened?.joined === false ? Object.values(opened.pids) : []
  })
}
