// Finds the folder that holds package.json, from the sources as well as from dist/.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the package; migrations/, examples/ and docs/ lie in it. */
export const packageRoot = findUpwards(dirname(fileURLToPath(import.meta.url)))

/** The version in package.json. */
export const packageVersion = readVersion(join(packageRoot, 'package.json'))

function findUpwards (folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('package.json was not found above the running code: install the package whole')
  return findUpwards(parent)
}

function readVersion (file: string): string {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : '0.0.0'
}
