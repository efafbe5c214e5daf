// What creating and updating an assistant share: the facts the rules need, and the answer.
import type { FastifyReply } from 'fastify'
import Type, { type Static } from 'typebox'
import type { AssistantFacts } from '../domain/assistant/decide.js'
import type { AssistantState } from '../domain/assistant/evolve.js'
import type { AssistantBody } from '../domain/assistant/settings.js'
import { AssistantSummary, summarize } from '../domain/assistant/summary.js'
import { answered, writeHeaders } from '../http/docs/describe.js'
import { assistantSummary } from '../http/docs/examples.js'
import { answerFrom, type ReadYourWrite } from '../http/read-your-write.js'
import { markReplay } from '../http/retry-headers.js'
import type { Received } from '../http/received.js'
import type { Idempotency, Once } from '../command-handling/idempotency.js'
import type { Ids } from '../command-handling/ids.js'
import type { ReadModel } from '../../projections/read-model.js'
import { factsFor } from './facts.js'

export interface AssistantDeps {
  idempotency: Idempotency
  readModel: ReadModel
  ids: Ids
  readYourWrite: ReadYourWrite
  /** Why a webhook URL may not be stored, if so. */
  webhookUrlProblem (url: string): string | undefined
}

const AssistantAnswer = Type.Object({ message: Type.String(), data: AssistantSummary }, { title: 'AssistantAnswer' })

/** The answer of both routes, described. */
export const assistantAnswer = (message: string) =>
  answered('The assistant as it stands after the command.', AssistantAnswer, { message, data: assistantSummary }, ['ETag', ...writeHeaders])

/** Looks up what the body refers to, in one round trip; wrong types are not asked about, the schema has refused them. */
export async function lookUpFacts ({ readModel, webhookUrlProblem }: AssistantDeps, userId: string, { body, refused }: Received<AssistantBody>): Promise<AssistantFacts> {
  const { voice_id, language, phone_number_id, webhook_url } = body
  const found = readModel.lookUpCatalog({
    userId,
    voiceId: refused.voice_id ? undefined : voice_id,
    language: refused.language ? undefined : language,
    phoneNumberId: refused.phone_number_id ? undefined : phone_number_id ?? undefined
  })
  const facts = await factsFor(refused, found, { voiceExists: true, languageExists: true, ownsPhoneNumber: true })
  return { ...facts, webhookUrlProblem: typeof webhook_url === 'string' ? webhookUrlProblem(webhook_url) : undefined }
}

export async function answerAssistant ({ readModel, readYourWrite }: AssistantDeps, reply: FastifyReply, message: string, outcome: Once<AssistantState>): Promise<Static<typeof AssistantAnswer>> {
  const { state, revision } = outcome
  if (!state) throw new Error('a handled assistant command left no assistant')
  reply.header('etag', `"${revision}"`)
  markReplay(reply, outcome)
  const data = await answerFrom(readYourWrite, 'assistants', outcome, reply,
    async () => {
      const found = await readModel.findAssistant(state.user_id, state.assistant_id)
      return found && summarize(found)
    },
    () => summarize(state))
  return { message, data }
}
