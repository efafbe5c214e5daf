// `ringledger catalog import FILE`: returns when the catalogue can be used.
import type { Command } from 'commander'
import { printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (catalog: Command): void {
  catalog.command('import')
    .argument('<file>')
    .description('import a catalogue file; returns when it is projected')
    .option('--json', 'for programs')
    .action(importCatalogFile)
}

async function importCatalogFile (file: string, { json }: { json?: boolean }): Promise<void> {
  const [{ readCatalogFile }, { importAndProject }, { completeConfig }, { loadConfig }] = await Promise.all([
    import('./catalog-file.js'),
    import('./import-and-project.js'),
    import('../running/complete-config.js'),
    import('../../config.js')
  ])
  const contents = await readCatalogFile(file)
  const { secrets: { leadDigestKey } } = await completeConfig(loadConfig(process.env))
  const position = await withConnections('ringledger catalog import', (connections, log) =>
    importAndProject(connections, contents, { leadDigestKey, log }), 'tables')
  if (json) printJson({ file, position: String(position) })
  else say(`The catalogue in ${file} is imported and projected.`)
}
