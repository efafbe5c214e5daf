// The log of the server in DATA_DIR: what it has said since some moment, and whether that is about a full disk.
import { closeSync, openSync, readSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../cluster/paths.js'

export function logPath ({ dataDir }: Place): string {
  return join(dataDir, 'postgres.log')
}

export function logSize (place: Place): number {
  return statSync(logPath(place), { throwIfNoEntry: false })?.size ?? 0
}

const mostRead = 64 * 1024

/** The end of what the server has said since its log was that long. */
export function logSince (place: Place, offset: number): string {
  const size = logSize(place)
  const from = Math.max(Math.min(offset, size), size - mostRead)
  const content = Buffer.alloc(size - from)
  const file = openSync(logPath(place), 'r')
  try {
    return content.toString('utf8', 0, readSync(file, content, 0, content.length, from))
  } finally {
    closeSync(file)
  }
}

/** The server stops when it has no room for the next piece of its write-ahead log, which has this size. */
const leastBytes = 16 * 2 ** 20

/** How to mend a full disk, if that is what is wrong: the log may be on it too, and have no room to say so. */
export function howToMakeRoom ({ cluster }: Place, said: string): string | undefined {
  const { bavail, bsize } = statfsSync(cluster)
  if (!said.includes('No space left on device') && bavail * bsize >= leastBytes) return undefined
  return `The disk of DATA_DIR is full, with ${cluster}: free some space there, or move DATA_DIR to another disk.`
}
