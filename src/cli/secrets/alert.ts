// `ringledger secrets alert`: what verifies the requests to ALERT_WEBHOOK_URL.
import { printJson } from '../output.js'

export async function printAlertSecret ({ json }: { json?: boolean }): Promise<void> {
  const [{ readSettings }, { completeConfig }, { alertSecret }] = await Promise.all([
    import('../running.js'),
    import('../running.js'),
    import('../../services/complete-config.js')
  ])
  const secret = alertSecret(await completeConfig(readSettings()))
  if (json) return printJson({ secret })
  process.stdout.write(`${secret}\n`)
}
