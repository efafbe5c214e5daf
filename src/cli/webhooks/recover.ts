// `ringledger webhooks recover`: schedules again everything that was not delivered since a time.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

interface RecoverOptions {
  since: string
  user?: string
  assistant?: number
  json?: boolean
}

const stopped = 'stopped before its end: run the same command again, it goes on'

export async function recoverWebhooks (
  { since: from, user: userId, assistant: assistantId, json }: RecoverOptions
): Promise<void> {
  const { sinceTime } = await import('./since-time.js')
  const since = sinceTime(from)
  const [{ operate }, { recover }] = await Promise.all([
    import('../shutdown.js'), import('../../../workers/operate/recover.js')
  ])
  const { scheduled, held, off } = await operate(stopped, ({ signal, onProgress }) =>
    withConnections('ringledger webhooks recover', ({ pool }) => recover({
      pool,
      since,
      userId,
      assistantId,
      signal,
      onProgress: ({ done, total }) => {
        onProgress({ doing: 'recover', events: done, things: 'deliveries', done: total === 0 ? 1 : done / total })
      }
    })))
  if (json) return printJson({ scheduled, held, off })
  say(`Scheduled ${scheduled} deliveries for now; the workers send them.`)
  if (held > 0) say(`${held} more are held: their endpoint is suspended, and they are sent when it resumes.`)
  if (off > 0) say(`${off} more were left alone: their users have switched the webhook off.`)
}
