// What the commands of a campaign share: its id in the path, the campaign as reads know it, and the answer.
import Type, { type Static } from 'typebox'
import { campaignNotFound } from '../../domain/campaign/decide.js'
import type { Campaign, CampaignState } from '../../domain/campaign/evolve.js'
import { CampaignAnswer, describeCampaign } from '../../domain/campaign/summary.js'
import type { Handled, HandleRoute } from '../../http/command-route.js'
import { answered, writeHeaders } from '../../http/docs/describe.js'
import { campaign as example } from '../../http/docs/examples.js'
import { idIn } from '../../http/path-id.js'
import type { ReadModel } from '../../../projections/read-model.js'
import type { Facts } from '../facts.js'

export interface CampaignDeps {
  handle: HandleRoute
  readModel: ReadModel
  facts: Facts
}

const Answer = Type.Object({ message: Type.String(), data: CampaignAnswer }, { title: 'CampaignAnswer' })

/** The answer of routes that create or change one, described. */
export const campaignAnswer = (message: string) => answered(
  'The campaign as it stands after the command.', Answer, { message, data: example }, ['ETag', ...writeHeaders]
)

/** @throws Rejection when the path holds no id that a campaign could have */
export function campaignIdIn (text: string): number {
  const id = idIn(text)
  if (id === undefined) throw campaignNotFound()
  return id
}

export interface CampaignFacts { known?: Campaign }

/** As reads show it, also when it was deleted: what was answered under a key is answered again. */
export async function lookUpCampaign ({ facts }: CampaignDeps, userId: string, id: number): Promise<CampaignFacts> {
  const known = await facts.campaign(userId, id)
  if (!known) throw campaignNotFound()
  return { known }
}

export async function answerCampaign (
  { readModel }: CampaignDeps, message: string, { state, facts, readBack }: Handled<CampaignState, CampaignFacts>
): Promise<Static<typeof Answer>> {
  if (!state) throw new Error('a handled campaign command left no campaign')
  const data = await readBack({
    source: 'catalog',
    folded: () => describeCampaign(state, facts.known),
    async read () {
      const found = await readModel.findCampaign(state.user_id, state.campaign_id)
      return found && describeCampaign(found)
    },
    isAllInStream: state.created_at !== undefined
  })
  return { message, data }
}
