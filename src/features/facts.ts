// What commands look up in the read models before they decide. Nothing is refused because a read model is late.
import type { Assistant, AssistantAtRevision } from './assistants/model.js'
import type { Campaign } from './campaigns/model.js'
import type { AssistantAt } from '../commands/past-assistants.js'
import type { WaitIfMissing } from '../commands/wait-if-missing.js'
import type { CatalogAnswer, CatalogQuestion } from '../../projections/catalog.js'
import type { LeadOnStream } from '../../projections/find-leads.js'
import type { ReadModel } from '../../projections/read-model.js'

/** What is missing here was not in the log when it was asked. @throws NotKnownYet, EventStoreUnavailable */
export interface Facts {
  /** The user's campaign, also one that was deleted; nothing when it is not one of theirs. */
  campaign (userId: string, id: number): Promise<Campaign | undefined>
  catalog (question: CatalogQuestion): Promise<CatalogAnswer>
  /** The user's assistant; nothing when it is not one of theirs. */
  assistant (userId: string, id: number): Promise<Assistant | undefined>
  /** The user's assistant as it was at a revision; nothing when it is not one of theirs, or never had that revision. */
  assistantAt (userId: string, id: number, revision: number): Promise<AssistantAtRevision | undefined>
  /** The user's lead, also one that was deleted; nothing when it is not one of theirs. */
  lead (userId: string, id: number): Promise<LeadOnStream | undefined>
  /** The stream of the user's do-not-call entry, also of one that was deleted; nothing when it is not one of theirs. */
  blacklistStream (userId: string, id: number): Promise<string | undefined>
  /** The owner of a lead or a secondary contact. */
  leadOwner (id: number): Promise<string | undefined>
}

export function openFacts (readModel: ReadModel, waitIfMissing: WaitIfMissing, assistantAt: AssistantAt): Facts {
  return {
    campaign: (userId, id) => waitIfMissing('catalog', () => readModel.findCampaign(userId, id)),
    catalog: (question) => waitIfMissing(
      'catalog', () => readModel.lookUpCatalog(question), (answer) => isComplete(question, answer)),
    assistant: (userId, id) => waitIfMissing('assistants', () => readModel.findAssistant(userId, id)),
    async assistantAt (userId, id, revision) {
      const find = () => readModel.findAssistant(userId, id)
      const own = await waitIfMissing('assistants', find, (found) => found !== undefined && found.revision >= revision)
      return own && await assistantAt(userId, id, revision)
    },
    lead: (userId, id) => waitIfMissing('leads', () => readModel.findLeadToChange(userId, id)),
    blacklistStream: (userId, id) => waitIfMissing('leads', () => readModel.findBlacklistStream(userId, id)),
    leadOwner: (id) => waitIfMissing('leads', () => readModel.findLeadOwner(id))
  }
}

/** Whether everything that was asked for is there. */
function isComplete (
  { voiceId, language, phoneNumberId }: CatalogQuestion, { voiceExists, languageExists, ownsPhoneNumber }: CatalogAnswer
): boolean {
  return (voiceId === undefined || voiceExists) && (language === undefined || languageExists) &&
    (phoneNumberId === undefined || ownsPhoneNumber)
}
