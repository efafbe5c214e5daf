// GET /user/assistant/{id}/history
import Type from 'typebox'
import type { AssistantHistory } from '../command-handling/assistant-history.js'
import { assistantNotFound } from '../domain/assistant/decide.js'
import { HistoryEntry } from '../domain/assistant/history.js'
import type { App } from '../http/app-types.js'
import { answered, refusal } from '../http/docs/describe.js'
import { PageOf, answerPage, requestedPage, paging } from '../http/paging.js'
import { assistantPath, idIn } from '../http/path-id.js'
import { historyEntry, page } from '../http/docs/read-examples.js'
import { itemErrors, readHeaders, reading, type ReadPositions } from '../http/read-position.js'

export interface HistoryDeps {
  assistantHistory: AssistantHistory
  readPositions: ReadPositions
}

const schema = {
  operationId: 'getAssistantHistory',
  summary: 'Get the history of an assistant',
  description: 'What changed when, from what to what, straight from the log; newest first. ' +
    'Who changed it is nobody but its owner.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: assistantPath,
  querystring: Type.Object(paging(15)),
  response: {
    200: answered('The page that was asked for.', PageOf(HistoryEntry), page(15, historyEntry)),
    ...itemErrors,
    404: refusal('Assistant not found or does not belong to the authenticated user')
  }
}

export function getAssistantHistory (app: App, { assistantHistory, readPositions }: HistoryDeps): void {
  const options = { schema, ...reading('log', readPositions) }
  app.get('/user/assistant/:id/history', options, async ({ user, params, query }) => {
    const id = idIn(params.id)
    const entries = id === undefined ? undefined : await assistantHistory(user.id, id)
    if (!entries) throw assistantNotFound()
    const { page, perPage } = requestedPage(query)
    return answerPage(query, { items: entries.slice((page - 1) * perPage, page * perPage), total: entries.length })
  })
}
