// Gives a first start something to work with: voices, languages, and what two example users have.
import type { Connections } from '../../services/connections.js'
import { catalogStreams } from '../../features/catalog/events.js'
import { importAndProject, type ImportOptions } from './import-and-project.js'

/** Imports the file unless the log has a catalogue already. */
export async function importExampleOnce (
  connections: Connections, options: ImportOptions, file: string
): Promise<void> {
  const existing = await connections.streams.read(catalogStreams.voices, 0n, 1)
  if (existing.length > 0) return
  const { readCatalogFile } = await import('./catalog-file.js') // its schema takes a while to compile
  await importAndProject(connections, await readCatalogFile(file), options)
}
