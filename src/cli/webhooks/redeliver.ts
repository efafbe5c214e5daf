// `ringledger webhooks redeliver ID...`: inserts one more attempt of each; the workers make it.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

/** @throws when one of them cannot be sent, after the others were */
export async function redeliverWebhooks (ids: string[], { json }: { json?: boolean }): Promise<void> {
  const { redeliver } = await import('../../../workers/operate/redeliver.js')
  const accepted: string[] = []
  const tell = (id: string) => {
    accepted.push(id)
    if (!json) say(`${id} is sent again, as soon as a worker has a slot for it.`)
  }
  const refused = await withConnections('ringledger webhooks redeliver', async ({ pool }) => {
    const problems: string[] = []
    for (const id of ids) {
      const result = await redeliver(pool, id)
      if (result.kind === 'accepted') tell(id)
      else problems.push(`${id}: ${result.kind === 'refused' ? result.why : 'there is no such delivery'}`)
    }
    return problems
  })
  if (json) printJson({ accepted, refused })
  if (refused.length > 0) throw new Error(`not everything can be sent again\n  ${refused.join('\n  ')}`)
}
