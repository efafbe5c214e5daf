// What the API says of webhooks in one word, as people say it.
import type { Schemas } from '../api.js'
import { fromNow, plain } from '../blocks/text.js'

export const deliveryStatuses: Schemas['DeliveryStatus'][] =
  ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']

/** How an attempt ended. */
export const outcomes: Record<string, string> = {
  delivered: 'Delivered',
  rejected: 'Answered with an error',
  gone: 'Answered 410: wants no more',
  blocked: 'Address is not allowed',
  dns: 'Host not found',
  connect: 'No connection',
  tls: 'Certificate or TLS failed',
  connection: 'Connection broke',
  timeout: 'No answer in time',
  unknown: 'Not known: our worker ended'
} satisfies Record<Schemas['AttemptOutcome'], string>

/** Why a delivery is not sent now, and what it waits for. */
export const reasons: Record<string, string> = {
  webhook_off: 'Waits until the webhook is switched on',
  endpoint_suspended: 'Waits until the webhook of its assistant is resumed',
  crashed: 'Each attempt ended our worker: waits until it is sent again by hand',
  attempts_used_up: 'Every attempt failed: sent no more, unless by hand',
  expired: 'The receiver asked to wait for more than three days: sent no more, unless by hand',
  gone: 'The receiver answered 410, so it wants no more webhooks: not sent',
  held_too_long: 'It waited for more than 30 days: not sent',
  assistant_deleted: 'Its assistant was deleted: not sent',
  restored: 'It may have been sent before a backup was restored: not sent again',
  erased: 'The person was erased: not sent',
  not_completed: 'The call was not completed, and only completed calls are sent',
  unknown_assistant: 'The assistant of the call is not known: not sent',
  invalid: 'The report of the call cannot be read: not sent'
}

/** Where a delivery stands. */
export function standing ({ status, reason, next_attempt_at: next, attempt_count: count }: Schemas['DeliverySummary']): string {
  if (next !== null) return `${count === 0 ? 'First' : 'Next'} attempt ${Date.parse(next) < Date.now() ? 'now' : fromNow(next)}`
  if (status === 'skipped' && reason === 'webhook_off') return 'The webhook was switched off: not sent'
  return reason === null ? plain(status) : reasons[reason] ?? plain(reason)
}

/** Why nothing is sent to a webhook. */
const interruptions: Record<string, string> = {
  gone: 'The receiver answered 410: it wants no more webhooks',
  failing: 'Every attempt of five days failed',
  too_many_requests: 'The receiver asked for fewer webhooks (429)',
  unavailable: 'The receiver asked for a pause (503)'
}
export const interruption = (reason: string) => interruptions[reason] ?? plain(reason)
