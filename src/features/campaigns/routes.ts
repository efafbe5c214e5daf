// POST /user/campaign; PUT, DELETE and GET /user/campaign/{id}. The list of campaigns is one of the catalogue.
import { findCampaign } from '../../../projections/catalog.js'
import { idAt } from '../../domain/events.js'
import { etagOfRevision, reading } from '../../http/read-position.js'
import { Message, campaignPath, pathId } from '../../http/app-types.js'
import { command, type Handled } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { campaign } from '../../http/docs/examples.js'
import type { ApiServices } from '../../services/services.js'
import { route } from '../route.js'
import { campaignStream } from './events.js'
import {
  CampaignAnswer, CampaignBody, campaignDecider, campaignNotFound, describeCampaign, nameIn, type CampaignState
} from './model.js'

const tags = ['campaigns']
const notFound = refusal(campaignNotFound().message)
const after = (message: string) =>
  withMessage('The campaign as it stands after the command.', CampaignAnswer, { message, data: campaign })

const created = 'Campaign created successfully'
const createCampaign = route('POST', '/user/campaign', command('user', 'Campaign creation failed', ['Idempotency-Key'], {
  tags,
  operationId: 'createCampaign',
  summary: 'Create a campaign',
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: { 201: after(created), 422: invalid({ name: ['must be at most 255 characters'] }) }
}), (services) => (request, reply) => services.handle(request, reply.code(201), {
  body: CampaignBody,
  validate: (submitted) => ({ type: 'create' as const, name: nameIn(submitted) }),
  ids: () => ({ kind: 'campaign', count: 1 }),
  stream: (_body, ids) => campaignStream(idAt(ids, 0)),
  isNew: true,
  decider: campaignDecider,
  etag: true,
  answer: (handled) => answerWith(services, created, handled)
}))

const onOwn = (id: string) => {
  const stream = campaignStream(pathId(id, campaignNotFound))
  return { stream: () => stream, isForOwner: true, decider: campaignDecider }
}

const updated = 'Campaign updated successfully'
const updateCampaign = route('PUT', '/user/campaign/:id', command('user', 'Campaign update failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'updateCampaign',
  summary: 'Rename a campaign',
  description: 'A later import of the catalogue leaves the name, unless it brings another one than the import before it.',
  params: campaignPath,
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: { 200: after(updated), 404: notFound, 422: invalid({ name: ['must not be blank'] }) }
}), (services) => (request, reply) => services.handle(request, reply, {
  ...onOwn(request.params.id),
  body: CampaignBody,
  validate: (submitted) => ({ type: 'rename' as const, name: nameIn(submitted) }),
  etag: true,
  answer: (handled) => answerWith(services, updated, handled)
}))

const deleted = 'Campaign deleted successfully'
const deleteCampaign = route('DELETE', '/user/campaign/:id', command('user', 'Campaign deletion failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'deleteCampaign',
  summary: 'Delete a campaign',
  description: 'It takes no lead any more. Those that it has stay, and name it. No import of the catalogue brings it back.',
  params: campaignPath,
  response: { 200: answered('It is deleted.', Message, { message: deleted }, writeHeaders), 404: notFound }
}), ({ handle }) => (request, reply) => handle(request, reply, {
  ...onOwn(request.params.id),
  validate: () => ({ type: 'delete' as const }),
  answer: ({ readBack }) => readBack({ source: 'catalog', folded: () => ({ message: deleted }) })
}))

async function answerWith ({ pool }: ApiServices, message: string, { state, readBack }: Handled<CampaignState>) {
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

const getCampaign = route('GET', '/user/campaign/:id', reading('catalog', {
  tags,
  operationId: 'getCampaign',
  summary: 'Get a campaign',
  params: campaignPath,
  response: { 200: answered('The campaign.', One(CampaignAnswer), { data: campaign }, ['ETag']), 404: notFound }
}), ({ pool }) => async ({ user, params }, reply) => {
  const found = await findCampaign(pool, user.id, pathId(params.id, campaignNotFound))
  if (!found || found.isDeleted) throw campaignNotFound()
  reply.header('etag', etagOfRevision(found.revision))
  return { data: describeCampaign(found) }
})

export const campaignRoutes = [createCampaign, updateCampaign, deleteCampaign, getCampaign]
