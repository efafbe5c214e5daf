// `ringledger person export`: a copy of what is known of a person, as their user would ask for it.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withConnections } from '../running.js'
import { personNamed } from './named.js'

export async function exportPerson (phoneNumber: string, { user: userId }: { user: string }): Promise<void> {
  const person = await personNamed(phoneNumber, userId)
  const [{ readSettings }, { completeConfig }, { exportNow }] = await Promise.all([
    import('../running.js'), import('../running.js'), import('./export-now.js')
  ])
  await withConnections('ringledger person export', async (connections, log) => {
    const config = await completeConfig(readSettings())
    const text = exportNow({ config, connections, log }, person)
    await pipeline(Readable.from(text), process.stdout, { end: false })
  })
}
