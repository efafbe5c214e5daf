// PUT /user/campaign/{id}
import { campaignDecider } from '../decide.js'
import { campaignStream } from '../events.js'
import { CampaignBody, validateName } from '../validate.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { example, invalid, refusal } from '../../../http/docs/describe.js'
import { campaignPath } from '../../../http/path-id.js'
import { answerCampaign, campaignAnswer, campaignIdIn, type CampaignDeps } from './campaign-command.js'

const updated = 'Campaign updated successfully'

const schema = {
  operationId: 'updateCampaign',
  summary: 'Rename a campaign',
  description: 'A later import of the catalogue leaves the name, unless it brings another one than the import before it.',
  tags: ['campaigns'],
  security: [{ bearer: [] }],
  params: campaignPath,
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: {
    200: campaignAnswer(updated),
    404: refusal('Campaign not found or does not belong to the authenticated user'),
    422: invalid({ name: ['must not be blank'] })
  }
}

export function updateCampaign (app: App, deps: CampaignDeps): void {
  const options = command('user', 'Campaign update failed', 'Idempotency-Key', 'If-Match')
  app.put('/user/campaign/:id', { schema, ...options }, async (request, reply) => {
    const id = campaignIdIn(request.params.id)
    return await deps.handle(request, reply, {
      body: CampaignBody,
      validate: validateName,
      stream: () => campaignStream(id),
      isForOwner: true,
      decider: campaignDecider,
      etag: true,
      answer: (handled) => answerCampaign(deps, updated, handled)
    })
  })
}
