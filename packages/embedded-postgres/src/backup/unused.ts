// Whether a DATA_DIR holds nothing that a restore would touch, and what a restore that was broken off has left.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPointer } from '../cluster/paths.js'

/** In DATA_DIR as long as a restore is not done. */
export const unfinishedNote = 'restore.unfinished'

/** The lock of the process that looks, and of those before it, is no data. */
const isLock = (name: string) => /^lock[.-]/.test(name)

/** @throws when something is there, unless a broken-off restore has left it */
export function refuseUsed (dataDir: string): void {
  if (existsSync(join(dataDir, unfinishedNote))) return
  const found = readdirSync(dataDir).filter((name) => !isLock(name))
  if (found.length === 0) return
  throw new Error(`DATA_DIR ${dataDir} is not empty (${found.slice(0, 3).join(', ')}${found.length > 3 ? ', …' : ''}): ` +
    'a backup is restored into an empty one. Set DATA_DIR to another directory, or move this one away.')
}

/** @throws when a restore was broken off here */
export function refuseUnfinished (dataDir: string): void {
  if (!existsSync(join(dataDir, unfinishedNote))) return
  throw new Error(`A restore into DATA_DIR ${dataDir} was broken off: run \`ringledger restore FILE\` again, ` +
    'or remove the directory.')
}

/** What unpacked files may still write for a moment. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }

/** Removes all but the locks from a DATA_DIR that a restore began to fill, with the place that its pointer names. */
export function emptyAgain (dataDir: string): void {
  if (!existsSync(join(dataDir, unfinishedNote))) return
  const outside = readPointer(dataDir)
  if (outside !== undefined) rmSync(outside, removal)
  const names = readdirSync(dataDir).filter((name) => !isLock(name) && name !== unfinishedNote)
  for (const name of names) rmSync(join(dataDir, name), removal)
  rmSync(join(dataDir, unfinishedNote)) // last
}
