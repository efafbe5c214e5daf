// What users do with their assistants: create, update, restore, delete; read one, its past and a list.
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import { findAssistant, findAssistantHistory, findAssistants, withoutReleased } from '../../../projections/assistants.js'
import { idAt } from '../../domain/events.js'
import { At, documentedAs } from '../../domain/json.js'
import { etagOfRevision, reading } from '../../http/read-position.js'
import { Message, assistantPath, pathId } from '../../http/app-types.js'
import { command, type Handled } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { assistant, assistantSummary, changedAssistant, historyEntry, newAssistant } from '../../http/docs/examples.js'
import { earliest, updatedFromAlso } from '../../http/filters.js'
import { refusedBy } from '../../http/bodies.js'
import { inTransaction } from '../../postgres/transaction.js'
import { type CatalogAnswer, type CatalogQuestion, lookUpCatalog } from '../../../projections/catalog.js'
import { webhookUrlProblem } from '../../../workers/deliver/guard.js'
import { endInterruption, findInterruption } from '../../../workers/deliveries/webhooks.js'
import type { ApiServices } from '../../services/services.js'
import { list, route } from '../route.js'
import { AssistantWebhook, type Interruption } from '../webhooks/model.js'
import { assistantStream, AssistantSettings } from './events.js'
import {
  assistantDecider, assistantNotFound, AssistantSummary, HistoryEntry, summarize,
  type Assistant, type AssistantAtRevision, type AssistantState
} from './model.js'
import {
  CreateAssistantBody, RestoreAssistantBody, UpdateAssistantBody, validateChanges, validateNewAssistant,
  validateRestore, type AssistantFacts, type PastFacts
} from './validate.js'

/** The user's assistant that a path names. @throws Rejection `assistant-not-found`, NotKnownYet */
export async function ownAssistant (
  { positions, pool }: Pick<ApiServices, 'positions' | 'pool'>, userId: string, idText: string
): Promise<Assistant> {
  const id = pathId(idText, assistantNotFound)
  const found = await positions.orNotKnown('assistants', () => findAssistant(pool, userId, id))
  if (!found) throw assistantNotFound()
  return found
}

const tags = ['assistants']
const notFound = refusal(assistantNotFound().message)
const after = (message: string) => withMessage('The assistant as it stands after the command.', AssistantSummary, {
  message, data: assistantSummary
}, ['ETag', ...writeHeaders], 'AssistantAnswer')

const created = 'Assistant created successfully'
const createAssistant = route('POST', '/user/assistant', command('user', 'Assistant creation failed', ['Idempotency-Key'], {
  tags,
  operationId: 'createAssistant',
  summary: 'Create an assistant',
  description: 'Optional fields that are left out get their defaults.',
  body: example(CreateAssistantBody, newAssistant),
  response: {
    201: after(created),
    422: invalid({
      assistant_name: ['must be at most 255 characters'],
      voice_id: ['must be an available voice'],
      'post_call_schema.0.name': ['is required']
    })
  }
}), (services) => (request, reply) => services.handle(request, reply.code(201), {
  body: CreateAssistantBody,
  facts: (body) => lookUpFacts(services, request.user.id, body),
  validate: validateNewAssistant,
  ids: () => ({ kind: 'assistant', count: 1 }),
  stream: (_body, ids) => assistantStream(idAt(ids, 0)),
  isNew: true,
  decider: assistantDecider,
  etag: true,
  answer: (handled) => answerWith(services, created, handled)
}))

const onOwn = (id: number) => ({ stream: () => assistantStream(id), isForOwner: true, decider: assistantDecider })

const updated = 'Assistant updated successfully'
const updateAssistant = route('PUT', '/user/assistant/:id', command('user', 'Assistant update failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'updateAssistant',
  summary: 'Update an assistant',
  description: 'Only the given fields change; objects and arrays are replaced whole.',
  params: assistantPath,
  body: example(UpdateAssistantBody, changedAssistant),
  response: {
    200: after(updated),
    404: notFound,
    422: invalid({
      webhook_url: ['is required when is_webhook_active is true'], speech_speed: ['must be between 0.7 and 1.2']
    })
  }
}), (services) => (request, reply) => services.handle(request, reply, {
  ...onOwn(pathId(request.params.id, assistantNotFound)),
  body: UpdateAssistantBody,
  facts: (body) => lookUpFacts(services, request.user.id, body),
  validate: validateChanges,
  etag: true,
  async answer (handled) {
    if (handled.body.is_webhook_active) await resumeWebhook(services, handled.state, request.log)
    return await answerWith(services, updated, handled)
  }
}))

const restoreAssistant = route('POST', '/user/assistant/:id/restore', command('user', 'Assistant restore failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'restoreAssistant',
  summary: 'Restore the settings of a past revision',
  description: 'An update with what differs from them; its status stays. What is set anew is held to the rules of ' +
    'today. A phone number that you released is a 422 on phone_number_id, unless `without_phone_number` is true.',
  params: assistantPath,
  body: example(RestoreAssistantBody, { revision: 0 }),
  response: {
    200: after(updated),
    404: notFound,
    422: invalid({ voice_id: ['must be an available voice'], phone_number_id: ['must be one of your phone numbers'] })
  }
}), (services) => (request, reply) => {
  const id = pathId(request.params.id, assistantNotFound)
  return services.handle(request, reply, {
    ...onOwn(id),
    body: RestoreAssistantBody,
    facts: (body) => lookUpPast(services, request.user.id, id, body),
    validate: validateRestore,
    etag: true,
    answer: (handled) => answerWith(services, updated, handled)
  })
})

const deleted = 'Assistant deleted successfully'
const deleteAssistant = route('DELETE', '/user/assistant/:id', command('user', 'Assistant deletion failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'deleteAssistant',
  summary: 'Delete an assistant',
  description: 'It is not found any more. Calls of it that are reported later are recorded, and their webhooks sent as ' +
    'its settings said.',
  params: assistantPath,
  response: { 200: answered('It is deleted.', Message, { message: deleted }, writeHeaders), 404: notFound }
}), ({ handle }) => (request, reply) => handle(request, reply, {
  ...onOwn(pathId(request.params.id, assistantNotFound)),
  validate: () => ({ type: 'delete' as const }),
  answer: ({ readBack }) => readBack({ source: 'assistants', folded: () => ({ message: deleted }) })
}))

async function answerWith ({ pool }: ApiServices, message: string, { state, readBack }: Handled<AssistantState>) {
  const data = await readBack({
    source: 'assistants',
    folded: () => summarize(state),
    async read () {
      const found = await findAssistant(pool, state.user_id, state.assistant_id)
      return found && summarize(found)
    },
    isAllInStream: true
  })
  return { message, data }
}

/** A suspended webhook is still active in the log, so switching it on appends nothing: this resumes it. */
async function resumeWebhook (
  { pool }: ApiServices, state: Assistant, log: FastifyBaseLogger
): Promise<void> {
  const url = state.settings.webhook_url
  if (url === null) return
  await inTransaction(pool, (tx) => endInterruption(tx, String(state.assistant_id), state.user_id, url))
    .catch((error: unknown) => log.warn({ err: error }, 'a webhook was not resumed'))
}

/** Looks up what the body refers to, in one round trip. @throws NotKnownYet */
async function lookUpFacts (
  { positions, pool, config }: ApiServices, userId: string, given: Partial<AssistantSettings>
): Promise<AssistantFacts> {
  const { voice_id, language, phone_number_id, webhook_url } = given
  const asked = { userId, voiceId: voice_id, language, phoneNumberId: phone_number_id ?? undefined }
  const found = await positions.orNotKnown('catalog', () => lookUpCatalog(pool, asked), (answer) => isComplete(asked, answer))
  const urlProblem = webhook_url == null ? undefined : webhookUrlProblem(webhook_url, config.webhook)
  return { ...found, webhookUrlProblem: urlProblem }
}

/** Whether the answer has everything that was asked for. */
function isComplete (
  { voiceId, language, phoneNumberId }: CatalogQuestion, { voiceExists, languageExists, ownsPhoneNumber }: CatalogAnswer
): boolean {
  return (voiceId === undefined || voiceExists) && (language === undefined || languageExists) &&
    (phoneNumberId === undefined || ownsPhoneNumber)
}

const refusedToday = refusedBy(UpdateAssistantBody)

/** @throws NotKnownYet */
async function lookUpPast (
  services: ApiServices, userId: string, id: number,
  { revision, without_phone_number }: Partial<RestoreAssistantBody>
): Promise<PastFacts> {
  if (revision === undefined) return {}
  const { positions, pool, assistantAt } = services
  const find = () => findAssistant(pool, userId, id)
  const own = await positions.orNotKnown('assistants', find, (found) => found !== undefined && found.revision >= revision)
  const found = own && await assistantAt(userId, id, revision)
  const past = found && { ...found.settings, ...without_phone_number && { phone_number_id: null } }
  return past ? { past, refused: refusedToday(past), ...await lookUpFacts(services, userId, past) } : {}
}

const bare = (schema: object) =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !toldOfBodies.includes(keyword)))
const toldOfBodies = ['description', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern']

/** Without words and limits: the bodies that set these fields have them. */
const briefSettings = Type.Object(Object.fromEntries(Object.entries(AssistantSettings.properties).map(
  ([name, schema]) => [name, bare(schema)])))

const AssistantAnswer = Type.Object({
  ...AssistantSummary.properties,
  settings: { ...AssistantSettings, ...documentedAs(briefSettings) },
  revision: Type.Integer({ minimum: 0, description: 'Also the ETag, or its beginning.' }),
  created_at: At(),
  updated_at: At(),
  webhook: AssistantWebhook
}, { title: 'Assistant' })

const PartOfName = Type.String({
  minLength: 1, maxLength: 255, description: 'A part of the name, whatever its case and accents.'
})

const listAssistants = list('/user/assistants', {
  source: 'assistants',
  perPage: 10,
  keys: ['time', 'whole'],
  item: AssistantSummary,
  example: assistantSummary,
  filters: {
    name: Type.Optional(PartOfName),
    status: Type.Optional(AssistantSummary.properties.status),
    type: Type.Optional(AssistantSummary.properties.type),
    search: Type.Optional({ ...PartOfName, title: 'PartOfName' }),
    ...updatedFromAlso('because their phone number was released')
  },
  tags,
  operationId: 'listAssistants',
  summary: 'List your assistants',
  description: 'Newest first.'
}, ({ pool }, page, { user, query: { name, search, status, type, updated_from } }) => {
  const filter = { userId: user.id, name, searched: search, status, type, updatedFrom: earliest(updated_from) }
  return findAssistants(pool, filter, page)
})

const getAssistant = route('GET', '/user/assistant/:id', reading('assistants', {
  tags,
  operationId: 'getAssistant',
  summary: 'Get an assistant',
  description: 'Its settings can be sent back by PUT as they are. With `revision` it is as it was then; the state of ' +
    'its webhook is then only whether it was on. A phone number that was released is null in either.',
  params: assistantPath,
  querystring: Type.Object({
    revision: Type.Optional(Type.Integer({
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'As it was at this revision; one that it never had is not found.',
      examples: [0]
    }))
  }),
  response: {
    200: answered('The assistant with all its settings.', One(AssistantAnswer), { data: assistant }, ['ETag']), 404: notFound
  }
}), (services) => async ({ user, params, query }, reply) => {
  const found = await find(services, user.id, pathId(params.id, assistantNotFound), query.revision)
  if (!found) throw assistantNotFound()
  const { settings, revision, created_at, updated_at, number_released_at } = found
  const webhook = await webhookOf(found, query.revision === undefined ? services.pool : undefined)
  const beside = [number_released_at, webhook.reason !== null && webhook].filter(Boolean)
  reply.header('etag', etagOfRevision(revision, beside))
  return { data: { ...summarize(found), settings, revision, created_at, updated_at, webhook } }
})

const getHistory = list('/user/assistant/:id/history', {
  source: 'assistants',
  perPage: 15,
  keys: ['whole'],
  item: HistoryEntry,
  example: historyEntry,
  params: assistantPath,
  refusals: { 404: notFound },
  tags,
  operationId: 'getAssistantHistory',
  summary: 'Get the history of an assistant',
  description: 'What changed when, from what to what, newest first. ' +
    'Who changed it is nobody but its owner.'
}, async ({ pool }, page, { user, params }) => {
  const found = await findAssistantHistory(pool, user.id, pathId(params.id, assistantNotFound), page)
  if (!found) throw assistantNotFound()
  return found
})

async function find (
  { pool, assistantAt }: ApiServices, userId: string, id: number, revision: number | undefined
): Promise<AssistantAtRevision | undefined> {
  const found = await findAssistant(pool, userId, id)
  if (!found || revision === undefined || revision === found.revision) return found
  const past = revision < 0 || revision > found.revision ? undefined : await assistantAt(userId, id, revision)
  return past && await withoutReleased(pool, past)
}

const uninterrupted = { reason: null, since: null, until: null }

/** Without a pool only whether it was on: a past revision tells nothing else. */
async function webhookOf (
  { assistant_id, settings }: Assistant, pool: ApiServices['pool'] | undefined
): Promise<Interruption> {
  const { is_webhook_active, webhook_url } = settings
  if (!is_webhook_active || webhook_url === null) return { state: 'off', ...uninterrupted }
  return (pool && await findInterruption(pool, assistant_id, webhook_url)) ?? { state: 'on', ...uninterrupted }
}

export const assistantCommands = [createAssistant, updateAssistant, restoreAssistant, deleteAssistant]
export const assistantQueries = [listAssistants, getAssistant, getHistory]
