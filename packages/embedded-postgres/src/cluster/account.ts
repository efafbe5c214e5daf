// Which account runs Postgres, and what that account can reach.
import { readFileSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** An account other than the caller's; ids as `stat` shows them. */
export interface Account {
  name: string
  uid: number
  gid: number
}

/**
 * The account that Postgres runs as; undefined: that of the caller. Postgres refuses to run as root, so root runs it as
 * the owner of an existing cluster, else as `nobody`, which exists everywhere.
 */
export function accountFor (cluster: string): Account | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { name: nameOf(owner.uid), uid: owner.uid, gid: owner.gid }
  return nobody()
}

/** Whether the account may pass every directory above a path and has these rights on it (4 read, 2 write, 1 pass). */
export function canReach (account: Account, path: string, bits: number): boolean {
  const parent = dirname(path)
  if (parent !== path && !canReach(account, parent, 1)) return false
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && allows(stats, account, bits)
}

function allows (stats: Stats, account: Account, bits: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0
  return ((stats.mode >> shift) & bits) === bits
}

function nobody (): Account {
  const [, , uid, gid] = passwd().find(([name]) => name === 'nobody') ?? []
  return { name: 'nobody', uid: unsigned(uid ?? '65534'), gid: unsigned(gid ?? '65534') }
}

function nameOf (uid: number): string {
  return passwd().find(([, , id]) => id !== undefined && unsigned(id) === uid)?.[0] ?? `uid ${uid}`
}

// macOS writes nobody's ids as -2; stat and chown speak of 4294967294.
function unsigned (id: string): number {
  return Number(id) >>> 0
}

function passwd (): string[][] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  } catch {
    return []
  }
}
