// What callers see of a webhook delivery and its attempts.
import Type, { type Static } from 'typebox'
import { Id, Nullable } from '../json.js'

const At = (description: string) => Type.String({ description, examples: ['2026-01-31T12:00:00.000Z'] })
const Missing = Nullable(Type.String())

export const DeliveryAttempt = Type.Object({
  n: Type.Integer({ minimum: 1, description: 'Numbers the attempts of one trigger.' }),
  trigger: Type.Enum(['schedule', 'manual', 'test']),
  started_at: At('ISO 8601, UTC.'),
  finished_at: Nullable(At(''), { description: 'Null while it runs.' }),
  outcome: Nullable(Type.String(), { description: 'delivered, or what went wrong; null while it runs.' }),
  status_code: Nullable(Type.Integer(), { description: 'What the receiver answered.' }),
  duration_ms: Nullable(Type.Integer()),
  error: Missing,
  response_excerpt: Nullable(Type.String(), { description: 'The beginning of the answer\'s body.' })
}, { title: 'DeliveryAttempt' })

export const Delivery = Type.Object({
  id: Type.String({ description: 'The webhook-id, the same for every attempt.' }),
  call_id: Missing,
  assistant_id: Nullable(Id({})),
  type: Type.String({ examples: ['call.completed'] }),
  status: Type.Enum(['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']),
  reason: Nullable(Type.String(), { description: 'Why it is held, cancelled or skipped.' }),
  attempt_count: Type.Integer({ minimum: 0, description: 'Attempts of the schedule that were started.' }),
  next_attempt_at: Nullable(At(''), { description: 'When it is tried next; null unless it is scheduled.' }),
  created_at: At('ISO 8601, UTC.'),
  attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first.' })
}, { title: 'Delivery' })
export type Delivery = Static<typeof Delivery>
