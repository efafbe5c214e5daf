// `ringledger events mark`: writes a fresh marker, for instance after one that cannot be read.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function markLog ({ json }: { json?: boolean }): Promise<void> {
  const revision = await withConnections('ringledger events mark', async ({ pool, streams }) => {
    const [{ writeMarker }, { readDatabaseState }] = await Promise.all([
      import('../../recovery/marker.js'), import('../../recovery/database-state.js')
    ])
    await writeMarker({ pool, streams, always: true })
    return (await readDatabaseState(pool, streams)).last?.revision
  })
  if (json) return printJson({ revision: String(revision) })
  say(`Marker ${revision} is in the log, and counts from now on.`)
}
