// The golden files: an event of each version that was ever written, as it was written.
import { readdirSync, readFileSync } from 'node:fs'

export interface Golden { stream: string, type: string, schema_version: string, data: Record<string, unknown> }

const folder = new URL('../golden/', import.meta.url)
const files = new Map(readdirSync(folder).map((file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Golden]))

export const golden = Object.assign(find, { files })

function find (type: string, version: string): Golden {
  const found = files.get(`${type}.v${version}.json`)
  if (!found) throw new Error(`no golden file for version ${version} of ${type}`)
  return found
}
