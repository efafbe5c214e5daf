// GET /user/assistant/{id}/history
import Type from 'typebox'
import { assistantNotFound } from '../decide.js'
import { HistoryEntry } from '../history.js'
import type { App } from '../../../http/app-types.js'
import { answered, refusal } from '../../../http/docs/describe.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { assistantPath, idIn } from '../../../http/path-id.js'
import { historyEntry, page } from '../../../http/docs/examples.js'
import { itemErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const paging = new Paging('assistant-history', 15, ['whole'])

const schema = {
  operationId: 'getAssistantHistory',
  summary: 'Get the history of an assistant',
  description: 'What changed when, from what to what, newest first. ' +
    'Who changed it is nobody but its owner.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: assistantPath,
  querystring: Type.Object(paging.parameters),
  response: {
    200: answered('The page that was asked for.', PageOf(HistoryEntry), page(15, historyEntry)),
    ...itemErrors,
    404: refusal('Assistant not found or does not belong to the authenticated user')
  }
}

export function getAssistantHistory (app: App, { readModel, readPositions }: ReadDeps): void {
  const options = { schema, ...reading('assistants', readPositions, paging) }
  app.get('/user/assistant/:id/history', options, async ({ user, params, query }) => {
    const id = idIn(params.id)
    const page = paging.requested(query)
    const found = id === undefined ? undefined : await readModel.findAssistantHistory(user.id, id, page)
    if (!found) throw assistantNotFound()
    return paging.answer(query, found)
  })
}
