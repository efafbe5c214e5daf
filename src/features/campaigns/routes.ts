// POST /user/campaign; PUT, DELETE and GET /user/campaign/{id}. The list of campaigns is one of the catalogue.
import Type from 'typebox'
import { findCampaign } from '../../../projections/catalog.js'
import { idAt } from '../../domain/decider.js'
import { etagOfRevision, itemErrors, readHeaders, reading } from '../../http/read-position.js'
import { Message, type App, campaignPath, pathId } from '../../http/app-types.js'
import { command, type Handled } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, writeHeaders } from '../../http/docs/describe.js'
import { campaign } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { campaignStream } from './events.js'
import {
  CampaignAnswer, CampaignBody, campaignDecider, campaignNotFound, describeCampaign, nameIn, type CampaignState
} from './model.js'

const shared = { tags: ['campaigns'], security: [{ bearer: [] }] }
const notFound = refusal('Campaign not found or does not belong to the authenticated user')
const Answer = Type.Object({ message: Type.String(), data: CampaignAnswer }, { title: 'CampaignAnswer' })
const answer = (message: string) => answered(
  'The campaign as it stands after the command.', Answer, { message, data: campaign }, ['ETag', ...writeHeaders]
)

const created = 'Campaign created successfully'
const createSchema = {
  ...shared,
  operationId: 'createCampaign',
  summary: 'Create a campaign',
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: { 201: answer(created), 422: invalid({ name: ['must be at most 255 characters'] }) }
}

const updated = 'Campaign updated successfully'
const updateSchema = {
  ...shared,
  operationId: 'updateCampaign',
  summary: 'Rename a campaign',
  description: 'A later import of the catalogue leaves the name, unless it brings another one than the import before it.',
  params: campaignPath,
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: { 200: answer(updated), 404: notFound, 422: invalid({ name: ['must not be blank'] }) }
}

const deleted = 'Campaign deleted successfully'
const deleteSchema = {
  ...shared,
  operationId: 'deleteCampaign',
  summary: 'Delete a campaign',
  description: 'It takes no lead any more. Those that it has stay, and name it. No import of the catalogue brings it back.',
  params: campaignPath,
  response: { 200: answered('It is deleted.', Message, { message: deleted }, writeHeaders), 404: notFound }
}

const getSchema = {
  ...shared,
  operationId: 'getCampaign',
  summary: 'Get a campaign',
  headers: readHeaders,
  params: campaignPath,
  response: {
    200: answered('The campaign.', One(CampaignAnswer), { data: campaign }, ['ETag']), ...itemErrors, 404: notFound
  }
}

export function addCampaigns (app: App, { handle, pool, positions }: ApiServices): void {
  const creating = command('user', 'Campaign creation failed', 'Idempotency-Key')
  app.post('/user/campaign', { schema: createSchema, ...creating }, (request, reply) => handle(request, reply.code(201), {
    body: CampaignBody,
    validate: (submitted) => ({ type: 'create' as const, name: nameIn(submitted) }),
    ids: () => ({ kind: 'campaign', count: 1 }),
    stream: (_body, ids) => campaignStream(idAt(ids, 0)),
    isNew: true,
    decider: campaignDecider,
    etag: true,
    answer: (handled) => answerWith(created, handled)
  }))

  const updating = command('user', 'Campaign update failed', 'Idempotency-Key', 'If-Match')
  app.put('/user/campaign/:id', { schema: updateSchema, ...updating }, async (request, reply) => {
    const id = pathId(request.params.id, campaignNotFound)
    return await handle(request, reply, {
      body: CampaignBody,
      validate: (submitted) => ({ type: 'rename' as const, name: nameIn(submitted) }),
      stream: () => campaignStream(id),
      isForOwner: true,
      decider: campaignDecider,
      etag: true,
      answer: (handled) => answerWith(updated, handled)
    })
  })

  const deleting = command('user', 'Campaign deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/campaign/:id', { schema: deleteSchema, ...deleting }, async (request, reply) => {
    const id = pathId(request.params.id, campaignNotFound)
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: () => ({ type: 'delete' as const }),
      stream: () => campaignStream(id),
      isForOwner: true,
      decider: campaignDecider,
      answer: ({ readBack }) => readBack({ source: 'catalog', folded: () => ({ message: deleted }) })
    })
  })

  const getting = reading('catalog', positions)
  app.get('/user/campaign/:id', { schema: getSchema, ...getting }, async ({ user, params }, reply) => {
    const found = await findCampaign(pool, user.id, pathId(params.id, campaignNotFound))
    if (!found || found.isDeleted) throw campaignNotFound()
    reply.header('etag', etagOfRevision(found.revision))
    return { data: describeCampaign(found) }
  })

  async function answerWith (message: string, { state, readBack }: Handled<CampaignState>) {
    if (!state) throw new Error('a handled campaign command left no campaign')
    const data = await readBack({
      source: 'catalog',
      folded: () => describeCampaign(state),
      async read () {
        const found = await findCampaign(pool, state.user_id, state.campaign_id)
        return found && describeCampaign(found)
      },
      isAllInStream: true
    })
    return { message, data }
  }
}
