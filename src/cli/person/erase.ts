// `ringledger person erase`: takes a person out of everything that a user has, as that user would ask for it.
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'
import { personNamed } from './named.js'

export function register (person: Command): void {
  person.command('erase')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption('--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry')
    .description('erase a person for good, and end when it is done')
    .action(erasePerson)
}

async function erasePerson (phoneNumber: string, { user }: { user: string }): Promise<void> {
  const person = await personNamed(phoneNumber, user)
  const [{ readSettings }, { completeConfig }, { eraseNow }] = await Promise.all([
    import('../read-settings.js'), import('../running/complete-config.js'), import('./erase-now.js')
  ])
  await withConnections('ringledger person erase', async (connections, log) => {
    const config = await completeConfig(readSettings())
    await eraseNow({ config, connections, log }, person)
  })
  process.stdout.write('The person is erased. docs/privacy.md says what is left to do with backups.\n')
}
