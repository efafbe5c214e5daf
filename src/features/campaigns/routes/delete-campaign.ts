// DELETE /user/campaign/{id}
import Type from 'typebox'
import { campaignDecider } from '../decide.js'
import { campaignStream } from '../events.js'
import { Message, type App } from '../../../http/app-types.js'
import { command } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { campaignPath } from '../../../http/path-id.js'
import { answerDeleted } from '../../answer-deleted.js'
import { campaignIdIn, type CampaignDeps } from './campaign-command.js'

const deleted = 'Campaign deleted successfully'

const schema = {
  operationId: 'deleteCampaign',
  summary: 'Delete a campaign',
  description: 'It takes no lead any more. Those that it has stay, and name it. No import of the catalogue brings it back.',
  tags: ['campaigns'],
  security: [{ bearer: [] }],
  params: campaignPath,
  response: {
    200: answered('It is deleted.', Message, { message: deleted }, writeHeaders),
    404: refusal('Campaign not found or does not belong to the authenticated user')
  }
}

export function deleteCampaign (app: App, { handle }: CampaignDeps): void {
  const options = command('user', 'Campaign deletion failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/campaign/:id', { schema, ...options }, async (request, reply) => {
    const id = campaignIdIn(request.params.id)
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: () => ({ type: 'delete' as const }),
      stream: () => campaignStream(id),
      isForOwner: true,
      decider: campaignDecider,
      answer: (handled) => answerDeleted(deleted, 'catalog', handled)
    })
  })
}
