// Small private JSON files: written whole or not at all, read with suspicion.
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** The object in a file; undefined when the file is missing, empty, torn or holds no object. */
export function readJsonObject (path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces a file atomically; readers see the old or the new content, also after a crash. Mode 0600. */
export function writeJsonObject (path: string, content: object): void {
  putJsonObject(path, content, renameSync)
}

/** Makes a file in the same way. @throws EEXIST when it is there */
export function makeJsonObject (path: string, content: object): void {
  putJsonObject(path, content, linkSync)
}

function putJsonObject (path: string, content: object, put: (draft: string, path: string) => void): void {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true })
    put(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The system's code of an error, such as `ENOENT`; empty when it has none. */
export function errorCode (error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
