// `ringledger webhooks redeliver`: asks for one more attempt of deliveries; the workers make it.
import { askRedelivery } from '../../../workers/operate/redeliver.js'
import { say, withConnections } from '../running/back-ends.js'

/** @throws when one of them cannot be sent; the others are asked for all the same */
export async function redeliverWebhooks (ids: string[]): Promise<void> {
  const refused = await withConnections('ringledger webhooks redeliver', async ({ pool }) => {
    const problems: string[] = []
    for (const id of ids) {
      const asked = await askRedelivery(pool, id)
      if (asked.kind === 'accepted') say(`${id} is sent again, as soon as a worker has a place for it.`)
      else problems.push(`${id}: ${asked.kind === 'refused' ? asked.why : 'there is no such delivery'}`)
    }
    return problems
  })
  if (refused.length > 0) throw new Error(`not everything can be sent again\n  ${refused.join('\n  ')}`)
}
