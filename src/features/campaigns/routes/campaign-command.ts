// What the commands of a campaign share: its id in the path, the campaign as reads know it, and the answer.
import Type, { type Static } from 'typebox'
import { campaignNotFound } from '../decide.js'
import type { CampaignState } from '../evolve.js'
import { CampaignAnswer, describeCampaign } from '../summary.js'
import type { Handled, HandleRoute } from '../../../http/command-route.js'
import { answered, writeHeaders } from '../../../http/docs/describe.js'
import { campaign as example } from '../../../http/docs/examples.js'
import { idIn } from '../../../http/path-id.js'
import type { ReadModel } from '../../../../projections/read-model.js'

export interface CampaignDeps {
  handle: HandleRoute
  readModel: ReadModel
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

export async function answerCampaign (
  { readModel }: CampaignDeps, message: string, { state, readBack }: Handled<CampaignState>
): Promise<Static<typeof Answer>> {
  if (!state) throw new Error('a handled campaign command left no campaign')
  const data = await readBack({
    source: 'catalog',
    folded: () => describeCampaign(state),
    async read () {
      const found = await readModel.findCampaign(state.user_id, state.campaign_id)
      return found && describeCampaign(found)
    },
    isAllInStream: true
  })
  return { message, data }
}
