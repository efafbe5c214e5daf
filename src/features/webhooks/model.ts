// What callers see of their webhooks: deliveries with their attempts, notices, and the secrets that sign.
import Type, { type Static } from 'typebox'
import { At, Id, Nullable } from '../../domain/json.js'

const DeliveryAttempt = Type.Object({
  n: Type.Integer({ minimum: 1, description: 'Numbers the attempts of one trigger.' }),
  trigger: Type.Enum(['schedule', 'manual', 'test', 'probe'], {
    title: 'AttemptTrigger',
    description: 'The schedule; somebody who asked for it: a redelivery, a test; or a probe of a suspended endpoint.'
  }),
  started_at: Nullable(At(''), { description: 'ISO 8601, UTC. Null while one that was asked for waits for its turn.' }),
  finished_at: Nullable(At(''), { description: 'Null until it has ended.' }),
  outcome: Nullable(Type.String(), {
    description: 'Null until it has ended. delivered; gone (410) or rejected (any other answer); blocked, dns, ' +
      'connect, tls, connection or timeout where there was no answer; ' +
      'unknown when its worker died, and it is made again.'
  }),
  status_code: Nullable(Type.Integer(), { description: 'What the receiver answered.' }),
  duration_ms: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  response_excerpt: Nullable(Type.String(), { description: 'The beginning of the answer\'s body.' })
}, { title: 'DeliveryAttempt' })

const summary = {
  id: Type.String({ description: 'The webhook-id, the same for every attempt.' }),
  call_id: Nullable(Type.String(), { description: 'Null for a test.' }),
  assistant_id: Nullable(Id({})),
  type: Type.Enum(['call.completed', 'webhook.test'], { title: 'WebhookType' }),
  status: Type.Enum(['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped'], {
    title: 'DeliveryStatus', description: 'Where it stands.'
  }),
  reason: Nullable(Type.String(), {
    description: 'Why it is held (webhook_off, endpoint_suspended, crashed), exhausted (attempts_used_up, expired, crashed), ' +
      'cancelled (gone, held_too_long, assistant_deleted, restored, erased) or skipped (webhook_off, not_completed, ' +
      'unknown_assistant, invalid, restored, erased).'
  }),
  attempt_count: Type.Integer({ minimum: 0, description: 'Attempts of the schedule that were started.' }),
  next_attempt_at: Nullable(At(''), { description: 'When the schedule tries it next; null unless it is scheduled.' }),
  created_at: At(),
  url: Nullable(Type.String(), {
    description: 'Where it went last, or will go, without the query; null of what is not sent.'
  }),
  last_error: Nullable(Type.String(), {
    description: 'What was wrong with the newest attempt that has ended; null where it delivered.'
  })
}

export const DeliverySummary = Type.Object(summary, { title: 'DeliverySummary' })
export type DeliverySummary = Static<typeof DeliverySummary>

export const Delivery = Type.Object({
  ...summary,
  attempts: Type.Array(DeliveryAttempt, { description: 'The newest 50, oldest first.' })
}, { title: 'Delivery' })
export type Delivery = Static<typeof Delivery>

export const DeliveryRequest = Type.Object({
  method: Type.String(),
  url: Type.String({ description: 'Without its query, which may hold a secret.' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Headers of the newest attempt, without its signature and your own.'
  }),
  header_names: Type.Array(Type.String(), { description: 'Names of your own headers; their values are not kept. Empty until the attempt has ended.' }),
  body: Nullable(Type.String(), { description: 'Byte for byte; null when it is no longer kept.' })
}, { title: 'DeliveryRequest' })
export type DeliveryRequest = Static<typeof DeliveryRequest>

export const DeliveryDetails = Type.Object({
  ...Delivery.properties,
  request: Nullable(DeliveryRequest, { description: 'What was sent last. Null until something is.' })
}, { title: 'DeliveryDetails' })
export type DeliveryDetails = Static<typeof DeliveryDetails>

/** The result of asking for an attempt: the delivery with the attempt that waits, or why there is none. */
export type RequestedAttempt =
  | { kind: 'accepted', delivery: Delivery }
  | { kind: 'not-found' }
  /** `why` says what is in the way, without a full stop. */
  | { kind: 'refused', why: string }
  | { kind: 'too-many', retryInSeconds: number }

/** Whether something is sent to the URL of an assistant, and why not. */
export const AssistantWebhook = Type.Object({
  state: Type.Enum(['on', 'off', 'suspended', 'paused'], {
    title: 'WebhookState',
    description: 'suspended: the URL answered 410 or kept failing, and gets nothing until it is resumed. paused: it ' +
      'asked for fewer requests, and gets nothing until the time in `until`.'
  }),
  reason: Nullable(Type.String(), {
    description: 'Why it is suspended: gone (410) or failing; or paused: too_many_requests (429) or unavailable (503).'
  }),
  since: Nullable(At(), { description: 'When it was suspended.' }),
  until: Nullable(At(), { description: 'When a pause ends.' })
}, { title: 'AssistantWebhook' })
export type Interruption = Static<typeof AssistantWebhook>

export const Notice = Type.Object({
  id: Id({ description: 'Higher for newer ones.' }),
  type: Type.Enum(['endpoint_failing', 'endpoint_recovered', 'endpoint_suspended', 'delivery_exhausted'], {
    title: 'NoticeType',
    description: 'endpoint_failing: three attempts in a row have failed at a webhook_url; told again only after a ' +
      'success. endpoint_recovered: that success. endpoint_suspended: nothing is sent there until it resumes. delivery_exhausted: no further attempt is made.'
  }),
  assistant_id: Nullable(Id({}), { description: 'The assistant of that delivery.' }),
  delivery_id: Nullable(Type.String(), { description: 'The delivery whose attempt led to it.' }),
  reason: Nullable(Type.String(), {
    description: 'failed_three_times; gone (410) or failing (only failures for five days); attempts_used_up, ' +
      'expired, or crashed (each attempt ended our worker; it is made again when you ask for it); null of endpoint_recovered.'
  }),
  at: At()
}, { title: 'WebhookNotice' })
export type Notice = Static<typeof Notice>

const WebhookSecret = Type.Object({
  secret: Type.String({
    description: 'Verifies webhook-signature, as Standard Webhooks describes.', examples: ['whsec_...']
  }),
  previous: Type.Unsafe<{ secret: string, expires_at: string } | null>({
    title: 'PreviousSecret',
    type: ['object', 'null'],
    required: ['secret', 'expires_at'],
    properties: { secret: { type: 'string' }, expires_at: { type: 'string', description: 'ISO 8601, UTC.' } },
    description: 'After a rotation, the secret that was current before: signs as well until it expires.'
  })
}, { title: 'WebhookSecret' })
export type WebhookSecret = Static<typeof WebhookSecret>

export const WebhookSecretAnswer = Type.Object({ data: WebhookSecret }, { title: 'WebhookSecretAnswer' })

const AssistantSecret = Type.Object({
  ...WebhookSecret.properties,
  own: Type.Boolean({ description: 'Whether the secret is the assistant\'s; without one of its own it has yours.' })
}, { title: 'AssistantSecret' })
export type AssistantSecret = Static<typeof AssistantSecret>

export const AssistantSecretAnswer = Type.Object({ data: AssistantSecret }, { title: 'AssistantSecretAnswer' })

export const TroubledState = Type.Enum(['suspended', 'failing', 'paused'], {
  title: 'TroubledState',
  description: 'suspended: nothing is sent until it resumes. failing: three attempts or more since the last success have ' +
    'failed. paused: its receiver asked for a pause, which ends by itself.'
})
const words = (description: string) => Nullable(Type.String(), { description })
/** A webhook that operators should look at. */
export const TroubledWebhook = Type.Object({
  assistant_id: Id({}),
  user_id: Type.String(),
  url: Type.String({ description: 'Without its query, which may hold a secret.' }),
  state: TroubledState,
  reason: words('gone or failing of a suspended one; too_many_requests or unavailable of a pause.'),
  since: words('When it began to fail, or was suspended.'),
  until: words('When a pause ends.'),
  last_error: words('What was wrong with the last attempt that failed.'),
  waiting: Type.Integer({ minimum: 0, description: 'Deliveries that wait for it; 1,000 where there are more.' })
}, { title: 'TroubledWebhook' })
export type TroubledWebhook = Static<typeof TroubledWebhook>
