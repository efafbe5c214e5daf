// Hands restored files to the account of Postgres, and sees to it that they are on disk.
import { closeSync, chownSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../cluster/account.js'

/** A folder with all that is in it. */
export function own (folder: string, account: Account | undefined): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) own(path, account)
    else handOver(path, account)
  }
  handOver(folder, account)
}

function handOver (path: string, account: Account | undefined): void {
  if (account) chownSync(path, account.uid, account.gid)
  sync(path)
}

/** Waits until a file, or the names in a folder, are on disk. */
export function sync (path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
