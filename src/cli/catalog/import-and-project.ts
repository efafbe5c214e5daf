// Imports a catalogue and waits until readers see it.
import type { Pool } from 'pg'
import { catalog } from '../../../projections/catalog/catalog.js'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { commandHandler } from '../../commands/handle-command.js'
import { phoneClaims } from '../../commands/phone-claims.js'
import { holdToLeadDigestKey } from '../../commands/phone-hash.js'
import { digestOfNumbers } from '../../services/digest-of-numbers.js'
import type { Connections } from '../../services/connections.js'
import { believedId } from '../../domain/json.js'
import type { RunOptions } from '../../subscriptions/run.js'
import type { CatalogFile } from './catalog-file.js'
import { importCatalog } from './import-catalog.js'

const projectedWithinMs = 60_000

export interface ImportOptions {
  /** LEAD_DIGEST_KEY, or the generated one. */
  leadDigestKey: string
  log: RunOptions['log']
}

/** Projects the catalogue too, unless a projector does already. @returns the position that it is complete at */
export async function importAndProject (
  connections: Connections, contents: CatalogFile, { leadDigestKey, log }: ImportOptions
): Promise<bigint> {
  const { streams, consumerPool: pool, positions } = connections
  const stopping = new AbortController()
  const projecting = feedGenerations(catalog, {
    pool, streams, holder: `catalog import ${process.pid}`, yields: true, signal: stopping.signal, log
  })
  try {
    const digest = digestOfNumbers({ secrets: { leadDigestKey } })
    await holdToLeadDigestKey(streams, digest)
    const { handle } = commandHandler(streams)
    const claims = phoneClaims(handle, digest)
    await raiseIds(pool, contents)
    const position = await importCatalog({ handle, claims }, contents)
    if (await positions.reached('catalog', position, projectedWithinMs)) return position
    throw new Error('the catalogue is in the log, but its projection has not caught up within ' +
      `${projectedWithinMs / 1000} s: see \`ringledger projections list\``)
  } finally {
    stopping.abort()
    await projecting
  }
}

/** Before the ids are in the log, so that hardly any of them is given out meanwhile. */
async function raiseIds (pool: Pool, { users = [] }: CatalogFile): Promise<void> {
  const ids = {
    campaign: users.flatMap(({ campaigns = [] }) => campaigns),
    phone_number: users.flatMap(({ phone_numbers: numbers = [] }) => numbers)
  }
  for (const [kind, entries] of Object.entries(ids)) {
    const highest = entries.reduce((most, { id }) => Math.max(most, believedId(id)), 0)
    await pool.query('SELECT ledger.raise_ids($1::regclass, $2)', [`ledger.${kind}_ids`, highest])
  }
}
