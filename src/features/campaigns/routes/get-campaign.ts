// GET /user/campaign/{id}
import { campaignNotFound } from '../decide.js'
import { CampaignAnswer, describeCampaign } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { etagOfRevision } from '../../../http/answers/etags.js'
import { answered, One, refusal } from '../../../http/docs/describe.js'
import { campaign } from '../../../http/docs/examples.js'
import { campaignPath, idIn } from '../../../http/path-id.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { ReadDeps } from '../../assistants/routes/list-assistants.js'

const schema = {
  operationId: 'getCampaign',
  summary: 'Get a campaign',
  tags: ['campaigns'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: campaignPath,
  response: {
    200: answered('The campaign.', One(CampaignAnswer), { data: campaign }, ['ETag']),
    ...itemErrors,
    404: refusal('Campaign not found or does not belong to the authenticated user')
  }
}

export function getCampaign (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/campaign/:id', { schema, ...reading('catalog', readPositions) }, async ({ user, params }, reply) => {
    const id = idIn(params.id)
    const found = id === undefined ? undefined : await readModel.findCampaign(user.id, id)
    if (!found || found.isDeleted) throw campaignNotFound()
    reply.header('etag', etagOfRevision(found.revision))
    return { data: describeCampaign(found) }
  })
}
