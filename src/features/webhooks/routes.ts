// The routes of webhooks: what became of them, and how they are sent again.
import type { FastifyReply } from 'fastify'
import Type, { type Static } from 'typebox'
import { findDelivery, findRequest, listDeliveries, listNotices } from '../../../workers/deliveries/read.js'
import { endInterruption, findWebhook } from '../../../workers/deliveries/webhooks.js'
import { requestRedelivery, requestTest } from '../../../workers/operate/redeliver.js'
import {
  lostStatuses, recoverable, requestRecovery, requestRecoveryOf, type RecoveryRequest, type Requested
} from '../../../workers/operate/recoveries.js'
import type { Answer } from '../../commands/idempotency.js'
import { Id, inWords, uuid } from '../../domain/json.js'
import {
  httpError, invalid as refuse, notOwn, Rejection, problem, soundBody, soundFields, type Submitted
} from '../../domain/rejection.js'
import { assistantPath, deliveryPath } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, replayHeaders, withMessage } from '../../http/docs/describe.js'
import { deliveryDetails, deliverySummary, notice, redelivered, testDelivery, testOf } from '../../http/docs/examples.js'
import { DayOrInstant, deliveryFilterOf, deliveryFilters, earliest, isReversed, latest } from '../../http/filters.js'
import { received } from '../../http/bodies.js'
import { reading } from '../../http/read-position.js'
import { packageVersion } from '../../package-root.js'
import type { ApiServices } from '../../services/services.js'
import { type Assistant, assistantNotFound } from '../assistants/model.js'
import { ownAssistant } from '../assistants/routes.js'
import { callStream } from '../calls/events.js'
import { list, route } from '../route.js'
import { Delivery, DeliveryDetails, DeliverySummary, Notice, type RequestedAttempt } from './model.js'

const tags = ['webhooks']
const noAssistant = refusal(assistantNotFound().message)
const isOff = 'The webhook is switched off: set is_webhook_active to true instead.'

/** @throws as `ownAssistant`, and Rejection `webhook-refused` while its webhook is switched off */
async function activeAssistant (services: ApiServices, userId: string, id: string): Promise<Assistant> {
  const assistant = await ownAssistant(services, userId, id)
  const { is_webhook_active: isActive, webhook_url: url } = assistant.settings
  if (!isActive || url === null) throw new Rejection('webhook-refused', isOff)
  return assistant
}

const attempt = (description: string, message: string, data: Static<typeof Delivery>) =>
  withMessage(description, Delivery, { message, data }, replayHeaders, 'AttemptAnswer')

const deliveryNotFound = () => notOwn('Delivery')

/** @throws Rejection `not-found`, `webhook-refused`; an error with status 429 */
function answerAttempt (
  reply: FastifyReply, requested: RequestedAttempt, message: string
): Answer<{ message: string, data: Static<typeof Delivery> }> {
  switch (requested.kind) {
    case 'not-found': throw deliveryNotFound()
    case 'refused': throw new Rejection('webhook-refused', `Nothing can be sent: ${requested.why}.`)
    case 'too-many': {
      const { retryInSeconds: seconds } = requested
      reply.header('retry-after', seconds)
      throw httpError(429, `Too many of these for this assistant: at most 10 a minute. Try again in ${seconds} seconds.`)
    }
    case 'accepted': {
      const { delivery: data } = requested
      return { status: 202, body: { message, data }, about: data.call_id === null ? [] : [callStream(data.call_id)] }
    }
  }
}

const sentAgain = 'The delivery is sent again'
const redeliverWebhook = route('POST', '/user/webhook-deliveries/:id/redeliver', command('user', 'Redelivery failed', ['Idempotency-Key'], {
  tags,
  operationId: 'redeliverWebhook',
  summary: 'Send a webhook again',
  description: 'One more attempt, at once, with the same webhook-id and body, to the webhook_url that the assistant ' +
    'has now; also while its webhook is off or suspended, and whatever became of the delivery. A success makes it ' +
    'delivered, a failure changes nothing: the schedule goes on. At most 10 a minute for each assistant.',
  params: deliveryPath,
  response: {
    202: attempt('The delivery with the attempt that waits for its turn.', sentAgain, redelivered), 404: refusal(deliveryNotFound().message)
  }
}), ({ handleLedger }) => (request, reply) => handleLedger(request, reply, {
  prepare: async () => {},
  write: async (ledger) =>
    answerAttempt(reply, await requestRedelivery(ledger, request.params.id, request.user.id), sentAgain)
}))

const testSent = 'A test is sent'
const testWebhook = route('POST', '/user/assistant/:id/webhook-test', command('user', 'The test failed', ['Idempotency-Key'], {
  tags,
  operationId: 'testWebhook',
  summary: 'Send a test webhook',
  description: 'One request of the type `webhook.test` to the webhook_url of the assistant, signed like any other, with ' +
    'every field of a call and sample values, also for the names of post_call_schema; also while the webhook is off. It ' +
    'is not repeated when it fails. A success resumes a suspended webhook. At most 10 a minute for each assistant.',
  params: assistantPath,
  response: {
    202: attempt('The test delivery; read it again to see what came of it.', testSent, testDelivery), 404: noAssistant
  }
}), (services) => (request, reply) => services.handleLedger(request, reply, {
  async prepare () {
    const assistant = await ownAssistant(services, request.user.id, request.params.id)
    const { assistant_id: id, settings: { webhook_url: url } } = assistant
    const isFollowed = (known?: { url: string | null }) => url === null || known?.url === url
    await services.positions.orNotKnown('deliveries', () => findWebhook(services.pool, id), isFollowed)
    return assistant
  },
  async write (ledger, { assistant_id: id, settings }) {
    const { assistant_name: name, webhook_url: url, post_call_schema: schema } = settings
    const body = testOf({ id, name }, schema, new Date().toISOString())
    const requested = url === null
      ? { kind: 'refused' as const, why: 'the assistant has no webhook_url' }
      : await requestTest(ledger, request.user.id, body)
    return answerAttempt(reply, requested, testSent)
  }
}))

const resumed = 'The webhook is resumed'
const Resumed = Type.Object({
  resumed: Type.Integer({
    minimum: 0, description: 'Deliveries that were held and are scheduled again; 0 when it was not suspended.'
  })
}, { title: 'Resumed' })

const resumeWebhook = route('POST', '/user/assistant/:id/webhook-resume', command('user', 'Resuming the webhook failed', ['Idempotency-Key'], {
  tags,
  operationId: 'resumeWebhook',
  summary: 'Resume a suspended webhook',
  description: 'Resumes the webhook of the assistant, and sends what was held for it.',
  params: assistantPath,
  response: {
    200: withMessage(
      'It is not suspended any more.', Resumed, { message: resumed, data: { resumed: 3 } }, replayHeaders, 'ResumeAnswer'),
    404: noAssistant
  }
}), (services) => (request, reply) => services.handleLedger(request, reply, {
  prepare: () => activeAssistant(services, request.user.id, request.params.id),
  async write (ledger, { assistant_id: id, settings: { webhook_url: url } }) {
    const data = { resumed: await endInterruption(ledger, String(id), request.user.id, url ?? '') ?? 0 }
    return { status: 200, body: { message: resumed, data } }
  }
}))

const RecoverBody = Type.Object({
  since: DayOrInstant('Deliveries that were made on this day (UTC) or later, or at this instant or later.'),
  until: Type.Optional(DayOrInstant('And on this day or earlier, or at this instant or earlier; now when it is absent.')),
  statuses: Type.Optional(Type.Array(Type.Enum([...recoverable], { title: 'RecoverableStatus' }), {
    minItems: 1,
    maxItems: recoverable.length,
    description: 'Which of them; all but scheduled when it is absent. Of the skipped ones those of a time when the ' +
      'webhook was off; of the scheduled ones those that wait for a retry, which are due now.'
  }))
}, { title: 'RecoverBody' })

const recovering = 'The deliveries are sent again'
const tooManyDeliveries = 'matches more than 100,000 deliveries: recover them in parts, with until'
const busy = 'Ten recoveries of this assistant go on: try again when one of them has ended.'

const Recovered = Type.Object({
  count: Type.Integer({
    minimum: 0,
    description: 'Deliveries that are looked at again. Calls that are not completed are among them each time, and get no ' +
      'body while send_webhook_only_on_completed is true.'
  })
}, { title: 'Recovered' })
const howMany = (count: number) =>
  withMessage('How many.', Recovered, { message: recovering, data: { count } }, replayHeaders, 'RecoverAnswer')

export const recoverWebhooks = route('POST', '/user/assistant/:id/webhook-recover', command('user', 'Recovering the webhooks failed', ['Idempotency-Key'], {
  tags,
  operationId: 'recoverWebhooks',
  summary: 'Send again what failed or was skipped',
  description: 'Begins the schedule of these deliveries of the assistant anew, the oldest first and a few at a time, so ' +
    'that webhooks of now need not wait behind them. They go to the webhook_url that the assistant has by then. A call ' +
    'of a time when the webhook was off gets its body now, with what is known by now; one that is not completed only ' +
    'when send_webhook_only_on_completed is false. What is no longer kept is passed over.',
  params: assistantPath,
  body: example(RecoverBody, { since: '2026-01-31T12:00:00Z', statuses: ['exhausted', 'skipped'] }),
  response: { 202: howMany(12), 404: noAssistant, 422: invalid({ since: [tooManyDeliveries] }) }
}), (services) => (request, reply) => services.handleLedger(request, reply, {
  async prepare () {
    const wanted = validate(received(request, reply, RecoverBody))
    const assistant = await activeAssistant(services, request.user.id, request.params.id)
    return { userId: request.user.id, assistantId: assistant.assistant_id, ...wanted }
  },
  write: async (ledger, recovery) => answerRecovery(await requestRecovery(ledger, recovery))
}))

/** @throws Rejection `too-many`, `invalid` */
function answerRecovery (found: Requested): Answer<{ message: string, data: Static<typeof Recovered> }> {
  if ('count' in found) return { status: 202, body: { message: recovering, data: { count: found.count } } }
  throw found.refused === 'busy' ? new Rejection('too-many', busy) : refuse({ since: [tooManyDeliveries] })
}

const RedeliverBody = Type.Object({
  ids: Type.Optional(Type.Array(Type.String({ pattern: uuid, ...inWords('must be the id of a delivery') }), {
    minItems: 1, maxItems: 1_000, description: 'These deliveries. No other field goes with them.'
  })),
  assistant_id: Type.Optional(Id({ description: 'Or those of this assistant, as in webhook-recover.' })),
  since: Type.Optional(RecoverBody.properties.since),
  until: RecoverBody.properties.until,
  statuses: RecoverBody.properties.statuses
}, { title: 'RedeliverBody' })

const redeliverWebhooks = route('POST', '/user/webhook-deliveries/redeliver', command('user', 'Redelivery failed', ['Idempotency-Key'], {
  tags,
  operationId: 'redeliverWebhooks',
  summary: 'Send many webhooks again',
  description: 'By their ids, or of an assistant since a time: begins their schedule anew, the oldest first and a few at a ' +
    'time. Those that are delivered, under way, no longer kept or not yours are passed over.',
  body: example(RedeliverBody, { ids: [deliverySummary.id] }),
  response: { 202: howMany(1), 422: invalid({ ids: ['must be there, or assistant_id with since'] }) }
}), (services) => (request, reply) => services.handleLedger(request, reply, {
  async prepare () {
    const { user: { id: userId } } = request
    const { ids, ...wanted } = validateMany(received(request, reply, RedeliverBody))
    if (ids) return { userId, ids }
    await activeAssistant(services, userId, String(wanted.assistantId)).catch((error: unknown) => {
      const isUnknown = error instanceof Rejection && error.code === 'assistant-not-found'
      throw isUnknown ? refuse({ assistant_id: ['must be the id of one of your assistants'] }) : error
    })
    return { userId, ...wanted }
  },
  write: async (ledger, wanted) => answerRecovery(wanted.ids
    ? await requestRecoveryOf(ledger, wanted.userId, wanted.ids)
    : await requestRecovery(ledger, wanted))
}))

/** Either `ids`, or a recovery. @throws Rejection `invalid` with every field that is wrong */
function validateMany (submitted: Submitted<Static<typeof RedeliverBody>>): { ids?: string[] } & Omit<RecoveryRequest, 'userId'> {
  const { ids, ...others } = submitted.body
  const { since, until } = soundFields(submitted)
  const given = (field: keyof typeof others) => others[field] !== undefined
  const isObject = !submitted.refused?.body
  const problems = ids === undefined
    ? [
        isObject && !given('assistant_id') && !given('since') && problem('ids', 'must be there, or assistant_id with since'),
        !given('assistant_id') && given('since') && problem('assistant_id', 'is required without ids'),
        given('assistant_id') && !given('since') && problem('since', 'is required without ids'),
        since !== undefined && until !== undefined && isReversed(since, until) && problem('until', 'must not be before since')
      ]
    : (['assistant_id', 'since', 'until', 'statuses'] as const).map((field) =>
        given(field) && problem(field, 'must not be there beside ids'))
  const { assistant_id: assistantId = 0, statuses = lostStatuses, ...body } = soundBody(submitted, problems)
  const recovery = { assistantId, since: earliest(body.since ?? ''), until: latest(body.until), statuses }
  return body.ids ? { ids: body.ids, ...recovery } : recovery
}

/** @throws Rejection `invalid` with every field that is wrong */
function validate (submitted: Submitted<Static<typeof RecoverBody>>) {
  const { since, until } = soundFields(submitted)
  const isBefore = since !== undefined && until !== undefined && isReversed(since, until)
  const body = soundBody(submitted, [isBefore && problem('until', 'must not be before since')])
  return { since: earliest(body.since), until: latest(body.until), statuses: body.statuses ?? lostStatuses }
}

const listWebhookDeliveries = list('/user/webhook-deliveries', {
  source: 'deliveries',
  perPage: 15,
  keys: ['time', 'uuid'],
  item: DeliverySummary,
  example: deliverySummary,
  filters: deliveryFilters,
  tags,
  operationId: 'listWebhookDeliveries',
  summary: 'List your webhook deliveries',
  description: 'Newest first, without their attempts. One for each call of your assistants, ' +
    'also for those that are not sent, and one for each test.'
}, ({ pool }, page, { user, query }) => listDeliveries(pool, { userId: user.id, ...deliveryFilterOf(query) }, page))

const getWebhookDelivery = route('GET', '/user/webhook-deliveries/:id', reading('deliveries', {
  tags,
  operationId: 'getWebhookDelivery',
  summary: 'Get a webhook delivery',
  description: 'With its newest 50 attempts, oldest first, those that wait for their turn included, and the request ' +
    'of the newest one that was made.',
  params: deliveryPath,
  response: {
    200: answered('The delivery.', One(DeliveryDetails), { data: deliveryDetails }), 404: refusal(deliveryNotFound().message)
  }
}), ({ pool }) => async ({ user, params: { id } }) => {
  const found = await findDelivery(pool, user.id, id)
  if (!found) throw deliveryNotFound()
  return { data: { ...found, request: await findRequest(pool, id, packageVersion) } }
})

const listWebhookNotices = list('/user/webhook-notices', {
  source: 'deliveries',
  perPage: 15,
  keys: ['whole'],
  item: Notice,
  example: notice,
  tags,
  operationId: 'listWebhookNotices',
  summary: 'List what went wrong with your webhooks',
  description: 'Newest first: an endpoint that began to fail, works again or was suspended, and each delivery that was given up. ' +
    'Kept for 90 days.'
}, ({ pool }, page, { user }) => listNotices(pool, user.id, page))

export const webhookCommands = [redeliverWebhook, redeliverWebhooks, testWebhook, resumeWebhook]
export const webhookQueries = [listWebhookDeliveries, getWebhookDelivery, listWebhookNotices]
