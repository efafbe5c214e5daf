// `ringledger person erase`: takes a person out of everything that a user has, as that user would ask for it.
import { printJson } from '../output.js'
import { withConnections } from '../running.js'
import { personNamed } from './named.js'

export async function erasePerson (
  phoneNumber: string, { user, json }: { user: string, json?: boolean }
): Promise<void> {
  const person = await personNamed(phoneNumber, user)
  const [{ readSettings }, { completeConfig }, { eraseNow }] = await Promise.all([
    import('../running.js'), import('../running.js'), import('./erase-now.js')
  ])
  const id = await withConnections('ringledger person erase', async (connections, log) => {
    const config = await completeConfig(readSettings())
    return await eraseNow({ config, connections, log }, person)
  })
  if (json) printJson({ id, status: 'completed' })
  else process.stdout.write('The person is erased. docs/privacy.md says what is left to do with backups.\n')
}
