// GET /user/assistant/{id}
import Type, { type Static } from 'typebox'
import { assistantNotFound } from '../decide.js'
import type { Assistant, AssistantAtRevision } from '../evolve.js'
import { AssistantSettings } from '../settings.js'
import { AssistantSummary, summarize } from '../summary.js'
import { documentedAs, Nullable } from '../../../domain/json.js'
import type { Interruption } from '../../webhooks/delivery.js'
import type { App } from '../../../http/app-types.js'
import { etagOfRevision } from '../../../http/answers/etags.js'
import { answered, One, refusal } from '../../../http/docs/describe.js'
import { assistantPath, idIn } from '../../../http/path-id.js'
import { assistant } from '../../../http/docs/examples.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const At = Type.String({ description: 'ISO 8601, UTC.', examples: ['2026-01-31T12:00:00.000Z'] })

const Webhook = Type.Object({
  state: Type.Enum(['on', 'off', 'suspended', 'paused'], {
    title: 'WebhookState',
    description: 'suspended: the URL answered 410 or kept failing, and gets nothing until it is resumed. paused: it ' +
      'asked for fewer requests, and gets nothing until the time in `until`.'
  }),
  reason: Nullable(Type.String(), {
    description: 'Why it is suspended: gone (410) or failing; or paused: too_many_requests (429) or unavailable (503).'
  }),
  since: Nullable(At, { description: 'When it was suspended.' }),
  until: Nullable(At, { description: 'When a pause ends.' })
}, { title: 'AssistantWebhook' })

const bare = (schema: object) =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !toldOfBodies.includes(keyword)))
const toldOfBodies = ['description', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern']

/** The bodies that set these fields describe what they mean and what they may be. */
const briefSettings = Type.Object(Object.fromEntries(Object.entries(AssistantSettings.properties).map(
  ([name, schema]) => [name, bare(schema)])))

const AssistantAnswer = Type.Object({
  ...AssistantSummary.properties,
  settings: { ...AssistantSettings, ...documentedAs(briefSettings) },
  revision: Type.Integer({ minimum: 0, description: 'Also the ETag, or its beginning.' }),
  created_at: At,
  updated_at: At,
  webhook: Webhook
}, { title: 'Assistant' })

export interface GetAssistantDeps extends ReadDeps {
  /** The user's assistant as it was at a revision; nothing when it never had that one. */
  assistantAt (userId: string, id: number, revision: number): Promise<AssistantAtRevision | undefined>
  /** Why nothing is sent to the user's URL, if so. */
  interruptionOf (userId: string, url: string): Promise<Interruption | undefined>
}

const schema = {
  operationId: 'getAssistant',
  summary: 'Get an assistant',
  description: 'Its settings can be sent back by PUT as they are. With `revision` it is as it was then; the state of ' +
    'its webhook is then only whether it was on. A phone number that was released is null in either.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: assistantPath,
  querystring: Type.Object({
    revision: Type.Optional(Type.Integer({
      minimum: 0, description: 'As it was at this revision; one that it never had is not found.', examples: [0]
    }))
  }),
  response: {
    200: answered(
      'The assistant with all its settings.', One(AssistantAnswer), { data: assistant }, ['ETag']),
    ...itemErrors,
    404: refusal('Assistant not found or does not belong to the authenticated user')
  }
}

export function getAssistant (app: App, deps: GetAssistantDeps): void {
  const options = reading('assistants', deps.readPositions)
  app.get('/user/assistant/:id', { schema, ...options }, async ({ user, params, query }, reply) => {
    const id = idIn(params.id)
    const found = id === undefined ? undefined : await find(deps, user.id, id, query.revision)
    if (!found) throw assistantNotFound()
    const { settings, revision, created_at, updated_at, number_released_at } = found
    const webhook = await webhookOf(found, query.revision === undefined ? deps.interruptionOf : async () => undefined)
    const beside = [number_released_at, webhook.reason !== null && webhook].filter(Boolean)
    reply.header('etag', etagOfRevision(revision, beside))
    return { data: { ...summarize(found), settings, revision, created_at, updated_at, webhook } }
  })
}

async function find (
  { readModel, assistantAt }: GetAssistantDeps, userId: string, id: number, revision: number | undefined
): Promise<AssistantAtRevision | undefined> {
  const found = await readModel.findAssistant(userId, id)
  if (!found || revision === undefined || revision === found.revision) return found
  const past = revision > found.revision ? undefined : await assistantAt(userId, id, revision)
  return past && await readModel.withoutReleased(past)
}

const uninterrupted = { reason: null, since: null, until: null }

async function webhookOf (
  { user_id, settings }: Assistant, interruptionOf: GetAssistantDeps['interruptionOf']
): Promise<Static<typeof Webhook>> {
  const { is_webhook_active, webhook_url } = settings
  if (!is_webhook_active || webhook_url === null) return { state: 'off', ...uninterrupted }
  return await interruptionOf(user_id, webhook_url) ?? { state: 'on', ...uninterrupted }
}
