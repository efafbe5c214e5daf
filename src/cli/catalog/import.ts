// `ringledger catalog import FILE`: returns when the catalogue can be used.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function importCatalogFile (file: string, { json }: { json?: boolean }): Promise<void> {
  const [{ readCatalogFile }, { importAndProject }, { completeConfig }, { loadConfig }] = await Promise.all([
    import('./catalog-file.js'),
    import('./import-and-project.js'),
    import('../running.js'),
    import('../../config.js')
  ])
  const contents = await readCatalogFile(file)
  const { secrets: { leadDigestKey } } = await completeConfig(loadConfig(process.env))
  const position = await withConnections('ringledger catalog import', (connections, log) =>
    importAndProject(connections, contents, { leadDigestKey, log }), 'tables')
  if (json) printJson({ file, position: String(position) })
  else say(`The catalogue in ${file} is imported and projected.`)
}
