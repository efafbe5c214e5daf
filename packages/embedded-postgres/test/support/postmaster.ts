// Waits for the postmaster of a test, and ends it when the process of the test is gone.
import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** Ends the cluster when this process ends without having done so: its stdin closes with us. */
export function watch (postmaster: ChildProcess, home: string): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const script = 'read -r _; kill -QUIT "$0"; sleep 1; rm -rf "$1"'
  const args = ['-c', script, String(postmaster.pid), home]
  const watchdog = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watchdog.unref()
  return watchdog
}

/** True once it answers, false when it has given up. */
export async function answers (url: string, postmaster: ChildProcess, deadline: number): Promise<boolean> {
  while (Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const isUp = await client.connect().then(() => true, () => false)
    await client.end().catch(() => {})
    if (isUp) return true
    await delay(25)
    if (postmaster.exitCode !== null) return false
    const { signalCode } = postmaster
    if (signalCode !== null) throw new Error(`The scratch Postgres ended by ${signalCode} while it started`)
  }
  throw new Error('The scratch Postgres did not start')
}
