// Where a run keeps what does not outlast it: in memory where there is room, since files on a disk cost it most of the
// time that it waits, and databases are made five times as cheaply. A process that is killed finds its files in both.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** A file system in memory on Linux; in a container it is often small. */
const shared = '/dev/shm'
const prefix = 'ringledger-tests-'

/** More than a run has at one time, of databases and DATA_DIRs; the processes of the run need as much again. */
const neededBytes = 4_000_000_000

/** What a test had started may write for a moment longer than its test. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }

/**
 * Makes the folder of temporary files of this process and all it starts, unless TMPDIR names one or there is no room.
 * It goes when this process exits; if it was killed, with the next run.
 * @returns removes it, for a process that a signal ends: that runs nothing at its exit
 */
export function keepFilesInMemory (): () => void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return () => {}
  for (const name of readdirSync(shared)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isAlive(pid)) rmSync(join(shared, name), removal)
  }
  const folder = mkdtempSync(join(shared, `${prefix}${process.pid}-`))
  chmodSync(folder, 0o1777) // the account that runs Postgres under root must get in
  process.env.TMPDIR = folder
  const remove = () => { rmSync(folder, removal) }
  process.once('exit', remove)
  return remove
}

/** False where there is no Linux. */
function hasRoom (): boolean {
  try {
    const { bavail, bsize } = statfsSync(shared)
    const [, kilobytes = 0] = /^MemAvailable: *(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
    return bavail * bsize >= neededBytes && Number(kilobytes) * 1024 >= 2 * neededBytes
  } catch {
    return false
  }
}

function isAlive (pid: string): boolean {
  return readdirSync('/proc').includes(pid)
}
