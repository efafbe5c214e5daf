// `ringledger secrets alert`: what verifies the requests to ALERT_WEBHOOK_URL.
import type { Command } from 'commander'
import { printJson } from '../running/output.js'

export function register (secrets: Command): void {
  secrets.command('alert')
    .description('print the secret that signs the requests to ALERT_WEBHOOK_URL: ALERT_WEBHOOK_SECRET, or a derived one')
    .option('--json', 'for programs')
    .action(printAlertSecret)
}

async function printAlertSecret ({ json }: { json?: boolean }): Promise<void> {
  const [{ readSettings }, { completeConfig }, { alertSecret }] = await Promise.all([
    import('../read-settings.js'),
    import('../running/complete-config.js'),
    import('../../services/complete-config.js')
  ])
  const secret = alertSecret(await completeConfig(readSettings()))
  if (json) return printJson({ secret })
  process.stdout.write(`${secret}\n`)
}
