// The routes of the options of an assistant's webhook.
import Type from 'typebox'
import { changeOptions, findOptions } from '../../../workers/deliveries/options.js'
import { findWebhook } from '../../../workers/deliveries/webhooks.js'
import { type App, assistantPath } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { received } from '../../http/bodies.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, replayHeaders } from '../../http/docs/describe.js'
import { newWebhookOptions, webhookOptions } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { assistantNotFound } from '../assistants/model.js'
import { ownAssistant } from '../assistants/routes.js'
import { validateOptions, WebhookOptions, WebhookOptionsBody } from './options.js'

const path = '/user/assistant/:id/webhook-options'
const shared = { tags: ['webhooks'], security: [{ bearer: [] }], params: assistantPath }
const notFound = refusal('Assistant not found or does not belong to the authenticated user')
const none: WebhookOptions = { headers: {}, max_per_second: null }

const getSchema = {
  ...shared,
  operationId: 'getWebhookOptions',
  summary: 'The options of an assistant\'s webhook',
  description: 'Headers of your own, and how many attempts may start in a second.',
  response: { 200: answered('The options.', One(WebhookOptions), { data: webhookOptions }), 404: notFound }
}

const updated = 'Webhook options updated successfully'
const Updated = Type.Object({ message: Type.String(), data: WebhookOptions }, { title: 'WebhookOptionsAnswer' })
const updateSchema = {
  ...shared,
  operationId: 'updateWebhookOptions',
  summary: 'Change the options of an assistant\'s webhook',
  description: 'What is absent stays as it is. Headers are kept encrypted, go to the webhook_url of each attempt, and are not signed.',
  body: example(WebhookOptionsBody, newWebhookOptions),
  response: {
    200: answered('The options from now on.', Updated, { message: updated, data: webhookOptions }, ['X-Ignored-Fields', ...replayHeaders]),
    404: notFound,
    422: invalid({ 'headers.User-Agent': ['must have another name, such as X-Api-Key: each webhook has this one already'] })
  }
}

export function addWebhookOptions (app: App, services: ApiServices): void {
  const { pool, keys, positions } = services
  app.get(path, { schema: getSchema, onRequest: only('user') }, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const { user, params } = request
    const { assistant_id: id } = await ownAssistant(services, user.id, params.id)
    return { data: await findOptions(pool, keys, id, user.id) ?? none }
  })

  const options = command('user', 'Updating the webhook options failed', 'Idempotency-Key')
  app.put(path, { schema: updateSchema, ...options }, (request, reply) => services.handleLedger(request, reply, {
    async prepare () {
      const given = validateOptions(received(request, reply, WebhookOptionsBody))
      const { assistant_id: id } = await ownAssistant(services, request.user.id, request.params.id)
      const isChange = Object.keys(given).length > 0
      if (isChange) await positions.orNotKnown('deliveries', () => findWebhook(pool, id))
      return { given, isChange, assistantId: id, userId: request.user.id }
    },
    async write (ledger, { given, isChange, ...whose }) {
      const data = await changeOptions(ledger, keys, whose, given)
      if (!data && isChange) throw assistantNotFound()
      return { status: 200, body: { message: updated, data: data ?? none } }
    }
  }))
}
