// What changed when: a row for each event of an assistant, with the values before and after.
import type { Pool } from 'pg'
import type { AssistantEvent } from '../src/features/assistants/events.js'
import type { AssistantState } from '../src/features/assistants/evolve.js'
import { historyEntry, type HistoryEntry } from '../src/features/assistants/history.js'
import { readPage, type Page, type Paged } from '../src/postgres/page.js'
import { table } from './folding/table.js'

interface HistoryRow extends HistoryEntry {
  id: string
  assistant_id: number
  user_id: string
}

export const historyTable = table<HistoryRow>({
  name: 'assistant_history',
  key: 'id',
  columns: {
    id: 'text',
    assistant_id: 'bigint',
    user_id: 'text',
    revision: 'bigint',
    event: 'text',
    at: 'text',
    changes: 'json'
  },
  indexes: ['(user_id, assistant_id, revision DESC) INCLUDE (id)']
})

/** The row of an event that came to the assistant as it was `before`. */
export function historyRow (before: AssistantState, event: AssistantEvent, revision: number): HistoryRow {
  const { assistant_id, user_id } = event.data
  return { id: `${assistant_id}@${revision}`, assistant_id, user_id, revision, ...historyEntry(before, event) }
}

/** A page of what changed, newest first; nothing when the user has no such assistant. */
export async function findAssistantHistory (
  db: Pool, userId: string, assistantId: number, page: Page
): Promise<Paged<HistoryEntry> | undefined> {
  const { rowCount: isTheirs } = await db.query({
    name: 'owns-assistant',
    text: "SELECT FROM read_model.assistants WHERE id = $1 AND user_id = $2 AND status <> 'deleted'",
    values: [assistantId, userId]
  })
  if (!isTheirs) return undefined
  return await readPage(db, {
    name: 'assistant-history',
    columns: 'id, revision, event, at, changes',
    from: 'read_model.assistant_history',
    key: 'id',
    own: [['user_id = ?', userId], ['assistant_id = ?', assistantId]],
    order: { direction: 'DESC', by: { revision: 'bigint' } },
    item: "json_build_object('revision', revision, 'event', event, 'at', at, 'changes', changes)"
  }, page)
}
