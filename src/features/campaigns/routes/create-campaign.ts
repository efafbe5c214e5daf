// POST /user/campaign
import { campaignDecider } from '../decide.js'
import { campaignStream } from '../events.js'
import { CampaignBody, validateNewCampaign } from '../validate.js'
import { idAt } from '../../../domain/decider.js'
import type { App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { example, invalid } from '../../../http/docs/describe.js'
import { answerCampaign, campaignAnswer, type CampaignDeps } from './campaign-command.js'

const created = 'Campaign created successfully'

const schema = {
  operationId: 'createCampaign',
  summary: 'Create a campaign',
  tags: ['campaigns'],
  security: [{ bearer: [] }],
  body: example(CampaignBody, { name: 'Spring renewals' }),
  response: { 201: campaignAnswer(created), 422: invalid({ name: ['must be at most 255 characters'] }) }
}

export function createCampaign (app: App, deps: CampaignDeps): void {
  const options = command('user', 'Campaign creation failed', 'Idempotency-Key')
  app.post('/user/campaign', { schema, ...options }, (request, reply) => deps.handle(request, reply.code(201), {
    body: CampaignBody,
    validate: validateNewCampaign,
    ids: () => ({ kind: 'campaign', count: 1 }),
    stream: (_body, ids) => campaignStream(idAt(ids, 0)),
    isNew: true,
    decider: campaignDecider,
    etag: true,
    answer: (handled) => answerCampaign(deps, created, handled)
  }))
}
