// Runs postgres-main as a process of its own and reads what it says; nothing of it is left when the test ends.
import { spawn } from 'node:child_process'
import { bareNode, copiesOf, listenTo, type SaidOf, type TalkingProcess, type Teardown } from './index.js'
import { programIn } from './checkout.js'

export interface Opened {
  databaseUrl: string
  pids: Record<string, number>
}

export interface ProcessOptions {
  /** `once`: it closes as soon as it is open. */
  how?: 'stay' | 'once'
  uid?: number
}

export type PostgresProcess = TalkingProcess<SaidOf<Opened>>

/** Copies of a DATA_DIR with a cluster. */
export const dataDirs = (t: Teardown, checkout: string): Promise<(t: Teardown) => string> =>
  copiesOf(t, (dataDir) => postgresProcess(t, checkout, dataDir, { how: 'once' }).ended)

/** Starts `postgres-main` of that checkout on that DATA_DIR, in a process group of its own. */
export function postgresProcess (
  t: Teardown, checkout: string, dataDir: string, { how = 'stay', uid }: ProcessOptions = {}
): PostgresProcess {
  const main = programIn(checkout, 'postgres-main')
  const child = spawn('env', [...bareNode(), main, dataDir, how], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid })
  })
  const left = (said: Array<SaidOf<Opened>>) => Object.values(said.find(({ opened }) => opened)?.opened?.pids ?? {})
  return listenTo(t, child, left)
}
