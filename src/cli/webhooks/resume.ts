// `ringledger webhooks resume`: lets the dispatcher of a restored database go on.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function resumeWebhooks ({ json }: { json?: boolean }): Promise<void> {
  const { resumeWebhooks: resume } = await import('../../../workers/operate/resume.js')
  const resumed = await withConnections('ringledger webhooks resume', ({ pool, streams }) => resume(pool, streams))
  if (json) {
    const { position, cancelled } = resumed ?? {}
    printJson(resumed ? { resumed: true, position: String(position), cancelled } : { resumed: false })
  }
  if (!resumed) return say('There is nothing to resume: the delivery log has every call that the last marker knows of.')
  say(`Webhooks go on. Calls up to position ${resumed.position} of the log are recorded as skipped (restored), ` +
    'later ones are sent; ' +
    `of the deliveries that were pending in the restored delivery log, ${resumed.cancelled} were cancelled.`)
}
