// DATA_DIR: who uses it, and whether its disk has room.
import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Found as Stack } from '../../services/embedded/running-stack.js'
import { keptSecrets } from '../../services/generated-secrets.js'
import { problem, runChecks, skipped, warning, type Finding, type Found } from './check.js'

/** A new DATA_DIR takes 200 MB; a service that works needs some room beside what it has. */
const [leastBytes, scarceBytes] = [200e6, 2e9]

export async function checkDataDir (dataDir: string, { run, heldBy, cluster }: Stack): Promise<Finding[]> {
  const path = resolve(dataDir)
  return await runChecks('DATA_DIR', [
    ['used by', async () => usedBy()],
    ['disk', async () => await room(cluster ?? nearest(path))],
    ['secrets', async () => await secretsIn(path)]
  ], 'Set DATA_DIR to a directory that you may read.')

  function usedBy (): Found {
    if (run) return `${path}, by ${heldBy}`
    if (heldBy) return skipped(`${path}, by ${heldBy}, whose back ends are its own`)
    return cluster ? `${path}, by nobody now` : `${path}, which holds nothing yet`
  }
}

/** What will be made lies on the disk of the folder above. */
const nearest = (path: string): string => existsSync(path) || path === dirname(path) ? path : nearest(dirname(path))

async function room (path: string): Promise<Found> {
  const { bavail, bsize } = await statfs(path)
  const bytes = bavail * bsize
  const found = `${(bytes / 1e9).toFixed(1)} GB free in ${path}`
  const mend = 'Free some space there, or move DATA_DIR to another disk.'
  if (bytes < leastBytes) return problem(found, mend)
  return bytes < scarceBytes ? warning(found, mend) : found
}

async function secretsIn (path: string): Promise<Found> {
  const file = join(path, 'secrets.json')
  if (!await keptSecrets(path)) return undefined
  const { mode } = await stat(file)
  const isOpen = (mode & 0o077) !== 0 && process.platform !== 'win32'
  return isOpen ? warning(`others may read ${file}`, `chmod 600 ${file}`) : `${file}, for its owner alone`
}
