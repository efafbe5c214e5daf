// Runs postgres-main as a process of its own and reads what it says; nothing of it is left when the test ends.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
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

/** Runs so many processes that lock these directories at the same instants: for each process, which ones it got. */
export async function locksOf (
  t: Teardown, checkout: string, directories: string[], processes: number
): Promise<boolean[][]> {
  const begin = Date.now() + 1_000
  const main = programIn(checkout, 'acquire-main')
  return await Promise.all(Array.from({ length: processes }, async () => {
    const args = [...bareNode(), main, String(begin), ...directories]
    const child = spawn('env', args, { stdio: ['pipe', 'pipe', 'inherit'] })
    t.teardown(() => void child.stdin.end())
    for await (const line of createInterface(child.stdout)) return JSON.parse(line)
    throw new Error('a process ended without saying what it got')
  }))
}
