// The secrets of a run without external back ends: generated once, kept under DATA_DIR.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from '../text-files.js'

interface Secrets {
  jwtSecret: string
  secretKey: string
  leadDigestKey: string
}

const fileIn = (dataDir: string) => join(dataDir, 'secrets.json')

/**
 * Reads `secrets.json` (mode 0600) in `dataDir`, or creates it. If two processes create it at once, one wins and both
 * use its secrets.
 * @throws when the file is not readable or not ours
 */
export async function generatedSecrets (dataDir: string): Promise<Secrets> {
  const kept = await keptSecrets(dataDir)
  if (kept) return kept
  const fresh = () => randomBytes(32).toString('base64url')
  const secrets: Secrets = { jwtSecret: fresh(), secretKey: fresh(), leadDigestKey: fresh() }
  const { errorCode, explained, makeJsonObject } = await import('@ringledger/embedded-postgres/data-dir')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  try {
    makeJsonObject(fileIn(dataDir), secrets)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw explained(dataDir, error)
  }
  return await keptSecrets(dataDir) ?? secrets
}

/** The secrets of `secrets.json`; undefined without that file. @throws DataDirUnusable when it cannot be used */
export async function keptSecrets (dataDir: string): Promise<Secrets | undefined> {
  const { DataDirUnusable, explained, lookAtDataDir } = await import('@ringledger/embedded-postgres/data-dir')
  if (lookAtDataDir(dataDir) === undefined) return undefined
  const bytes = await readFile(fileIn(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw explained(dataDir, error)
  })
  if (bytes === undefined) return undefined
  const { jwtSecret, secretKey, leadDigestKey } = secretsIn(bytes)
  if (!jwtSecret || !secretKey || !leadDigestKey) {
    throw new DataDirUnusable(dataDir, new Error('secrets.json lacks a secret'), 'Restore that file from a backup')
  }
  return { jwtSecret, secretKey, leadDigestKey }
}

function secretsIn (bytes: Uint8Array): Partial<Secrets> {
  try {
    return JSON.parse(textOf(bytes)) ?? {}
  } catch {
    return {} // a truncated or foreign file
  }
}

/** Replaces a kept former key by the current one. @returns whether it did */
export async function leaveFormerKey (dataDir: string, former: readonly string[], secretKey: string): Promise<boolean> {
  const kept = await keptSecrets(dataDir)
  if (!kept || !former.includes(kept.secretKey)) return false
  const { writeJsonObject } = await import('@ringledger/embedded-postgres/data-dir')
  writeJsonObject(fileIn(dataDir), { ...kept, secretKey })
  return true
}
