// The secrets of a run that has no back end set: made once, kept under DATA_DIR.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from '../text-files.js'

export interface Secrets {
  jwtSecret: string
  secretKey: string
  leadDigestKey: string
}

/**
 * Reads `secrets.json` (mode 0600) in `dataDir`, or makes it. Of two processes that make it at once, one wins and both
 * use its secrets.
 * @throws when the file is not readable or not ours
 */
export async function generatedSecrets (dataDir: string): Promise<Secrets> {
  const file = join(dataDir, 'secrets.json')
  const fresh = () => randomBytes(32).toString('base64url')
  const secrets: Secrets = { jwtSecret: fresh(), secretKey: fresh(), leadDigestKey: fresh() }
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(secrets, undefined, 2) + '\n', { mode: 0o600, flag: 'wx' })
    .catch((error: NodeJS.ErrnoException) => { if (error.code !== 'EEXIST') throw error })
  return await keptSecrets(dataDir) ?? secrets
}

/** Those of `secrets.json`; nothing where there is no such file. @throws when it is not readable or not ours */
export async function keptSecrets (dataDir: string): Promise<Secrets | undefined> {
  const file = join(dataDir, 'secrets.json')
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (bytes === undefined) return undefined
  const { jwtSecret, secretKey, leadDigestKey }: Partial<Secrets> = JSON.parse(textOf(bytes))
  if (!jwtSecret || !secretKey || !leadDigestKey) {
    throw new Error(`${file} lacks a secret: restore it from a backup, or start anew with another DATA_DIR`)
  }
  return { jwtSecret, secretKey, leadDigestKey }
}
