// What the commands of an assistant share: its id in the path, the facts that the rules need, and the answer.
import Type, { type Static } from 'typebox'
import { assistantNotFound } from '../decide.js'
import type { AssistantState } from '../evolve.js'
import type { AssistantSettings } from '../settings.js'
import { AssistantSummary, summarize } from '../summary.js'
import type { AssistantFacts } from '../validate.js'
import type { Handled, HandleRoute } from '../../../http/command-route.js'
import { answered, writeHeaders } from '../../../http/docs/describe.js'
import { assistantSummary } from '../../../http/docs/examples.js'
import { idIn } from '../../../http/path-id.js'
import type { ReadModel } from '../../../../projections/read-model.js'
import type { Facts } from '../../facts.js'

export interface AssistantDeps {
  handle: HandleRoute
  readModel: ReadModel
  facts: Facts
  /** Why a webhook URL may not be stored, if so. */
  webhookUrlProblem (url: string): string | undefined
}

const AssistantAnswer = Type.Object({ message: Type.String(), data: AssistantSummary }, { title: 'AssistantAnswer' })

/** The answer of routes that create or change one, described. */
export const assistantAnswer = (message: string) => answered(
  'The assistant as it stands after the command.', AssistantAnswer, { message, data: assistantSummary },
  ['ETag', ...writeHeaders]
)

/** @throws Rejection when the path holds no id that an assistant could have */
export function assistantIdIn (text: string): number {
  const id = idIn(text)
  if (id === undefined) throw assistantNotFound()
  return id
}

/** Looks up what the body refers to, in one round trip. @throws NotKnownYet */
export async function lookUpFacts (
  { facts, webhookUrlProblem }: AssistantDeps, userId: string, given: Partial<AssistantSettings>
): Promise<AssistantFacts> {
  const { voice_id, language, phone_number_id, webhook_url } = given
  const wanted = { userId, voiceId: voice_id, language, phoneNumberId: phone_number_id ?? undefined }
  const found = await facts.catalog(wanted)
  return { ...found, webhookUrlProblem: webhook_url == null ? undefined : webhookUrlProblem(webhook_url) }
}

export async function answerAssistant (
  { readModel }: AssistantDeps, message: string, { state, readBack }: Handled<AssistantState>
): Promise<Static<typeof AssistantAnswer>> {
  if (!state) throw new Error('a handled assistant command left no assistant')
  const data = await readBack({
    source: 'assistants',
    folded: () => summarize(state),
    async read () {
      const found = await readModel.findAssistant(state.user_id, state.assistant_id)
      return found && summarize(found)
    },
    isAllInStream: true
  })
  return { message, data }
}
