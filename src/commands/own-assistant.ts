// The assistant that a path names, when it is the user's.
import { assistantNotFound } from '../domain/assistant/decide.js'
import type { Assistant } from '../domain/assistant/evolve.js'
import { idIn } from '../http/path-id.js'
import type { ReadModel } from '../../projections/read-model.js'

export interface OwnAssistantDeps {
  readModel: Pick<ReadModel, 'findAssistant'>
}

/** @throws Rejection `assistant-not-found` */
export async function ownAssistant (
  { readModel }: OwnAssistantDeps, userId: string, idText: string
): Promise<Assistant> {
  const id = idIn(idText)
  const found = id === undefined ? undefined : await readModel.findAssistant(userId, id)
  if (!found) throw assistantNotFound()
  return found
}
