// `ringledger catalog import FILE`: returns when the catalogue can be used.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (catalog: Command): void {
  catalog.command('import')
    .argument('<file>')
    .description('import a catalogue file; returns when it is projected')
    .action(importCatalogFile)
}

async function importCatalogFile (file: string): Promise<void> {
  const [{ readCatalogFile }, { importAndProject }] = await Promise.all([
    import('./catalog-file.js'), import('./import-and-project.js')
  ])
  const contents = await readCatalogFile(file)
  await withConnections('ringledger catalog import', (connections, log) => importAndProject(connections, contents, log))
  say(`The catalogue in ${file} is imported and projected.`)
}
