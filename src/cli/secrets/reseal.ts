// `ringledger secrets reseal`: leaves the keys of SECRET_KEY_PREVIOUS behind.
import type { Command } from 'commander'
import { printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (secrets: Command): void {
  secrets.command('reseal')
    .description('encrypt with SECRET_KEY what keys of SECRET_KEY_PREVIOUS encrypted, which are not needed afterwards')
    .option('--json', 'for programs')
    .action(resealSecrets)
}

async function resealSecrets ({ json }: { json?: boolean }): Promise<void> {
  const [{ loadConfig }, { completeConfig }, { secretKeys }, { reseal }] = await Promise.all([
    import('../../config.js'),
    import('../running/complete-config.js'),
    import('../../composition/complete-config.js'),
    import('../../../workers/operate/reseal.js')
  ])
  const keys = secretKeys(await completeConfig(loadConfig(process.env)))
  const resealed = await withConnections('ringledger secrets reseal', ({ pool }) => reseal({ pool, keys }))
  if (json) printJson({ resealed })
  say(resealed === 0
    ? 'Everything in the database is encrypted with SECRET_KEY already. The keys of persons in the event log stay as they are.'
    : `Encrypted ${resealed} texts anew. The keys of persons in the event log stay as they are, and need the key of their time.`)
}
