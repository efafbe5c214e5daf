// What a user is told of their webhooks, unasked.
import Type, { type Static } from 'typebox'
import { Id, Nullable } from '../../domain/json.js'

export const Notice = Type.Object({
  id: Id({ description: 'Higher for newer ones.' }),
  type: Type.Enum(['endpoint_failing', 'endpoint_suspended', 'delivery_exhausted'], {
    title: 'NoticeType',
    description: 'endpoint_failing: three attempts in a row have failed at a webhook_url; told again only after a ' +
      'success. endpoint_suspended: nothing is sent there until it resumes. delivery_exhausted: no further attempt is made.'
  }),
  assistant_id: Nullable(Id({}), { description: 'The assistant of that delivery.' }),
  delivery_id: Nullable(Type.String(), { description: 'The delivery whose attempt led to it.' }),
  reason: Nullable(Type.String(), {
    description: 'failed_three_times; gone (410) or failing (only failures for five days); attempts_used_up, ' +
      'expired, or crashed (each attempt ended our worker; it is made again when you ask for it).'
  }),
  at: Type.String({ description: 'ISO 8601, UTC.', examples: ['2026-01-31T12:00:00.000Z'] })
}, { title: 'WebhookNotice' })
export type Notice = Static<typeof Notice>
