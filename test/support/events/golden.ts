// The golden files: one event of each version that was ever written, as it was written.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { packageRoot } from '../../../src/package-root.js'
import { openEvent } from '../../../src/privacy/events.js'

export interface Golden {
  /** Only of a sealed event. */
  id?: string
  stream: string
  type: string
  schema_version: string
  data: Record<string, unknown>
}

const folder = join(packageRoot, 'test/golden')
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Golden
const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.v\d+\.json$/.test(file))
const files = new Map(all.map((file) => [basename(file), read(file)]))

export const golden = Object.assign(find, { files })

function find (type: string, version: string): Golden {
  const found = files.get(`${type}.v${version}.json`)
  if (!found) throw new Error(`no golden file for version ${version} of ${type}`)
  return found
}

/** The keys that seal golden events, by id. */
const keys = new Map(['1', '2', '3'].map((number) =>
  [`00000000-0000-4000-8000-00000000000${number}`, Buffer.alloc(32, number)]))

/** The event as projections get it, with personal data unsealed. */
export function opened (
  { id = '', stream, type, data, schema_version }: Omit<Golden, 'schema_version'> & { schema_version?: string }
): StoredEvent {
  const metadata: Record<string, string> = schema_version === undefined ? {} : { schema_version }
  return openEvent({ id, stream, type, data, metadata, revision: 0n, position: 0n, created: new Date(0) }, keys)
}
