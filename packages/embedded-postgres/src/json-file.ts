// Small private JSON files: written whole or not at all, read with suspicion.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The object in a file; undefined when the file is missing, empty, torn or holds no object. */
export function readJsonObject (path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces a file atomically; readers see the old or the new content. Mode 0600. */
export function writeJsonObject (path: string, content: object): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The system's code of an error, such as `ENOENT`; empty when it has none. */
export function errorCode (error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
