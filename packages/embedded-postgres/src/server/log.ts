// The log of the server in DATA_DIR, and whether what the server says is about a full disk.
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../cluster/paths.js'

export function logPath ({ dataDir }: Place): string {
  return join(dataDir, 'postgres.log')
}

/** The server stops when it has no room for the next piece of its write-ahead log, which has this size. */
const leastBytes = 16 * 2 ** 20

/** How to mend a full disk, if that is what is wrong: the log may be on it too, and have no room to say so. */
export function howToMakeRoom ({ cluster }: Place, said: string): string | undefined {
  const { bavail, bsize } = statfsSync(cluster)
  if (!said.includes('No space left on device') && bavail * bsize >= leastBytes) return undefined
  return `The disk of DATA_DIR is full, with ${cluster}: free some space there, or move DATA_DIR to another disk.`
}
