// `ringledger webhooks recover`: schedules everything anew that was not delivered since a time.
import { recover } from '../../../workers/operate/recover.js'
import { isDayOrInstant } from '../../http/day-or-instant.js'
import { say, withConnections } from '../running/back-ends.js'
import { operate } from '../running/operation.js'

export interface RecoverOptions {
  since: Date
  user?: string
  assistant?: number
}

/** A day, an instant, or how long ago: `90m`, `12h`, `3d`. @throws Error that says what it must be */
export function sinceTime (text: string, now = Date.now()): Date {
  const [, amount, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (amount !== undefined) return new Date(now - Number(amount) * ({ m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 0))
  if (isDayOrInstant(text)) return new Date(text)
  throw new Error('--since must be a day such as 2026-01-31, an instant such as 2026-01-31T12:00:00Z, or how long ago, such as 90m, 12h or 3d')
}

export async function recoverWebhooks ({ since, user: userId, assistant: assistantId }: RecoverOptions): Promise<void> {
  const { scheduled, held, off } = await operate('stopped before its end: run the same command again, it goes on', async ({ signal, onProgress }) =>
    await withConnections('ringledger webhooks recover', async ({ pool }) => await recover({
      pool, since, userId, assistantId, signal, onProgress: ({ done, total }) => onProgress({ doing: 'recover', events: done, things: 'deliveries', done: total === 0 ? 1 : done / total })
    })))
  say(`Scheduled ${scheduled} deliveries for now; the workers send them.`)
  if (held > 0) say(`${held} more are held: their endpoint is suspended, and they are sent when it is released.`)
  if (off > 0) say(`${off} more were left alone: their users have switched the webhook off.`)
}
