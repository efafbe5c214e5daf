// The assistant that a path names, when it is the user's.
import { assistantNotFound } from '../decide.js'
import type { Assistant } from '../evolve.js'
import { idIn } from '../../../http/path-id.js'
import type { Facts } from '../../facts.js'

export interface OwnAssistantDeps {
  facts: Facts
}

/** @throws Rejection `assistant-not-found`, NotKnownYet */
export async function ownAssistant (
  { facts }: OwnAssistantDeps, userId: string, idText: string
): Promise<Assistant> {
  const id = idIn(idText)
  const found = id === undefined ? undefined : await facts.assistant(userId, id)
  if (!found) throw assistantNotFound()
  return found
}
