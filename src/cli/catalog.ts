// `ringledger catalog import FILE`: returns when the catalogue can be used.
import { catalog } from '../../projections/catalog.js'
import { feedGenerations } from '../../projections/engine/feed.js'
import type { Connections } from '../composition/connections.js'
import type { RunOptions } from '../subscriptions/run.js'
import { commandHandler } from '../command-handling/handle-command.js'
import { importCatalog, readCatalogFile, type CatalogFile } from './import-catalog.js'
import { say, withConnections } from './running/back-ends.js'

const projectedWithinMs = 60_000

export async function importCatalogFile (file: string): Promise<void> {
  const contents = await readCatalogFile(file)
  await withConnections('ringledger catalog import', async (connections, _config, log) => {
    await importAndProject(connections, contents, log)
  })
  say(`The catalogue in ${file} is imported and projected.`)
}

/** Imports, and projects too unless a projector does already. */
export async function importAndProject ({ streams, consumerPool: pool, positions }: Connections, contents: CatalogFile, log: RunOptions['log']): Promise<void> {
  const stopping = new AbortController()
  const projecting = feedGenerations(catalog, { pool, streams, holder: `catalog import ${process.pid}`, yields: true, signal: stopping.signal, log })
  try {
    const position = await importCatalog(commandHandler(streams).handle, contents)
    if (!await positions.reached('catalog', position, projectedWithinMs)) {
      throw new Error(`the catalogue is in the log, but its projection has not caught up within ${projectedWithinMs / 1000} s: see \`ringledger projections list\``)
    }
  } finally {
    stopping.abort()
    await projecting
  }
}
