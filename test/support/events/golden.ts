// The golden files: an event of each version that was ever written, as it was written.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageRoot } from '../../../src/package-root.js'

export interface Golden { stream: string, type: string, schema_version: string, data: Record<string, unknown> }

const folder = join(packageRoot, 'test/golden')
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Golden
const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
const files = new Map(all.map((file) => [basename(file), read(file)]))

export const golden = Object.assign(find, { files })

function find (type: string, version: string): Golden {
  const found = files.get(`${type}.v${version}.json`)
  if (!found) throw new Error(`no golden file for version ${version} of ${type}`)
  return found
}
