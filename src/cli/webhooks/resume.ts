// `ringledger webhooks resume`: lets the dispatcher of a restored database go on.
import { resumeWebhooks as resumeSending } from '../../../workers/operate/resume.js'
import { say, withConnections } from '../running/back-ends.js'

export async function resumeWebhooks ({ json }: { json?: boolean }): Promise<void> {
  const resumed = await withConnections('ringledger webhooks resume', ({ pool, streams }) => resumeSending(pool, streams))
  if (json) process.stdout.write(`${JSON.stringify(resumed ? { resumed: true, position: String(resumed.position), cancelled: resumed.cancelled } : { resumed: false }, undefined, 2)}\n`)
  if (!resumed) return say('There is nothing to resume: the ledger knows of every call that the last marker knows of.')
  say(`Webhooks go on. Calls up to position ${resumed.position} of the log are recorded as skipped (restored), later ones are sent; ` +
    `of the deliveries that were pending in the restored ledger, ${resumed.cancelled} were cancelled.`)
}
