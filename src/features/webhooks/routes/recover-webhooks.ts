// POST /user/assistant/{id}/webhook-recover
import Type, { type Static } from 'typebox'
import type { Ledger } from '../../../commands/idempotency/ledger-commands.js'
import { invalid as refuse, Rejection } from '../../../domain/rejection.js'
import { problem, soundBody, soundFields, type Submitted } from '../../../domain/validation.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, example, invalid, refusal, replayHeaders } from '../../../http/docs/describe.js'
import { DayOrInstant, earliest, isReversed, latest } from '../../../http/input/day-or-instant.js'
import { received } from '../../../http/input/received.js'
import type { HandleLedger } from '../../../http/ledger-route.js'
import { assistantPath } from '../../../http/path-id.js'
import { ownAssistant, type OwnAssistantDeps } from '../../assistants/routes.js'
import { activeUrl, isOff } from './active-url.js'

const statuses = ['exhausted', 'cancelled', 'skipped', 'held'] as const

interface Recovery {
  userId: string
  assistantId: number
  since: string
  until: string | undefined
  statuses: readonly (typeof statuses[number])[]
}

export interface RecoverWebhooksDeps extends OwnAssistantDeps {
  handleLedger: HandleLedger
  /** Notes what is to be sent again; `busy` while so many of the assistant's recoveries go on that no other may. */
  recoverWebhooks (ledger: Ledger, recovery: Recovery): Promise<{ count: number } | { refused: 'too-many' | 'busy' }>
}

const RecoverBody = Type.Object({
  since: DayOrInstant('Deliveries that were made on this day (UTC) or later, or at this instant or later.'),
  until: Type.Optional(DayOrInstant('And on this day or earlier, or at this instant or earlier; now when it is absent.')),
  statuses: Type.Optional(Type.Array(Type.Enum([...statuses], { title: 'RecoverableStatus' }), {
    minItems: 1,
    maxItems: 4,
    description: 'Which of them; all four when it is absent. Of the skipped ones those of a time when the webhook was off.'
  }))
}, { title: 'RecoverBody' })

const accepted = 'The deliveries are sent again'
const tooMany = 'matches more than 100,000 deliveries: recover them in parts, with until'
const busy = 'Ten recoveries of this assistant go on: try again when one of them has ended.'

const Count = Type.Integer({
  minimum: 0,
  description: 'Deliveries that are looked at again. Calls that are not completed are among them each time, and get no ' +
    'body while send_webhook_only_on_completed is true.'
})
const RecoverAnswer = Type.Object({
  message: Type.String(), data: Type.Object({ count: Count }, { title: 'Recovered' })
}, { title: 'RecoverAnswer' })

const schema = {
  operationId: 'recoverWebhooks',
  summary: 'Send again what failed or was skipped',
  description: 'Begins the schedule of these deliveries of the assistant anew, the oldest first and a few at a time, so ' +
    'that webhooks of now need not wait behind them. They go to the webhook_url that the assistant has by then. A call ' +
    'of a time when the webhook was off gets its body now, with what is known by now; one that is not completed only ' +
    'when send_webhook_only_on_completed is false. What is no longer kept is passed over.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  params: assistantPath,
  body: example(RecoverBody, { since: '2026-01-31T12:00:00Z', statuses: ['exhausted', 'skipped'] }),
  response: {
    202: answered('How many.', RecoverAnswer, { message: accepted, data: { count: 12 } }, replayHeaders),
    404: refusal('Assistant not found or does not belong to the authenticated user'),
    409: refusal(isOff),
    422: invalid({ since: [tooMany] }),
    429: refusal(busy)
  }
}

export function recoverWebhooks (app: App, deps: RecoverWebhooksDeps): void {
  const options = command('user', 'Recovering the webhooks failed', 'Idempotency-Key')
  app.post('/user/assistant/:id/webhook-recover', { schema, ...options }, (request, reply) =>
    deps.handleLedger(request, reply, {
      async prepare () {
        const wanted = validate(received(request, reply, RecoverBody))
        const assistant = await ownAssistant(deps, request.user.id, request.params.id)
        activeUrl(assistant)
        return { userId: request.user.id, assistantId: assistant.assistant_id, ...wanted }
      },
      async write (ledger, recovery) {
        const found = await deps.recoverWebhooks(ledger, recovery)
        if ('count' in found) return { status: 202, body: { message: accepted, data: { count: found.count } } }
        throw found.refused === 'busy' ? new Rejection('too-many', busy) : refuse({ since: [tooMany] })
      }
    }))
}

/** @throws Rejection `invalid` with every field that is wrong */
function validate (submitted: Submitted<Static<typeof RecoverBody>>) {
  const { since, until } = soundFields(submitted)
  const isBefore = since !== undefined && until !== undefined && isReversed(since, until)
  const body = soundBody(submitted, [isBefore && problem('until', 'must not be before since')])
  return { since: earliest(body.since), until: latest(body.until), statuses: body.statuses ?? statuses }
}
