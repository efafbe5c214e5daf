// Every command of a campaign; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import type { CampaignDeps } from './campaign-command.js'
import { createCampaign } from './create-campaign.js'
import { deleteCampaign } from './delete-campaign.js'
import { updateCampaign } from './update-campaign.js'

export function addCampaignCommands (app: App, deps: CampaignDeps): void {
  createCampaign(app, deps)
  updateCampaign(app, deps)
  deleteCampaign(app, deps)
}
