// Imports a catalogue and waits until readers see it.
import { catalog } from '../../../projections/catalog.js'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { commandHandler } from '../../command-handling/handle-command.js'
import type { Connections } from '../../composition/connections.js'
import type { RunOptions } from '../../subscriptions/run.js'
import type { CatalogFile } from './catalog-file.js'
import { importCatalog } from './import-catalog.js'

const projectedWithinMs = 60_000

/** Projects the catalogue too, unless a projector does already. */
export async function importAndProject (
  connections: Connections, contents: CatalogFile, log: RunOptions['log']
): Promise<void> {
  const { streams, consumerPool: pool, positions } = connections
  const stopping = new AbortController()
  const projecting = feedGenerations(catalog, {
    pool, streams, holder: `catalog import ${process.pid}`, yields: true, signal: stopping.signal, log
  })
  try {
    const position = await importCatalog(commandHandler(streams).handle, contents)
    if (await positions.reached('catalog', position, projectedWithinMs)) return
    throw new Error('the catalogue is in the log, but its projection has not caught up within ' +
      `${projectedWithinMs / 1000} s: see \`ringledger projections list\``)
  } finally {
    stopping.abort()
    await projecting
  }
}
