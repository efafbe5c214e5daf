// An empty database of a test's own, in the Postgres of the run.
import { type ScratchPostgres, sessionsOf } from '@ringledger/embedded-postgres/testing'
import { newDatabase, type Template } from './back-ends.js'
import type { Teardown } from '../teardown.js'

export type { ScratchPostgres } from '@ringledger/embedded-postgres/testing'

/** A copy of a template, made in milliseconds. To kill or restart Postgres, take `postgresCluster`. */
export async function scratchPostgres (t: Teardown, template: Template = 'empty'): Promise<ScratchPostgres> {
  const { url, drop } = await newDatabase(template)
  t.teardown(drop)
  return { url, close: drop, children: (application) => sessionsOf(url, application) }
}
