// `ringledger person erase`: takes a person out of everything that a user has, as that user would ask for it.
import type { Command } from 'commander'
import { printJson } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { personNamed } from './named.js'

export function register (person: Command): void {
  person.command('erase')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption('--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry')
    .description('erase a person for good, and end when it is done')
    .option('--json', 'for programs')
    .action(erasePerson)
}

async function erasePerson (phoneNumber: string, { user, json }: { user: string, json?: boolean }): Promise<void> {
  const person = await personNamed(phoneNumber, user)
  const [{ readSettings }, { completeConfig }, { eraseNow }] = await Promise.all([
    import('../read-settings.js'), import('../running/complete-config.js'), import('./erase-now.js')
  ])
  const id = await withConnections('ringledger person erase', async (connections, log) => {
    const config = await completeConfig(readSettings())
    return await eraseNow({ config, connections, log }, person)
  })
  if (json) printJson({ id, status: 'completed' })
  else process.stdout.write('The person is erased. docs/privacy.md says what is left to do with backups.\n')
}
