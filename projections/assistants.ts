// Assistants as their owners read them, and their history: a row for each event, with the values before and after.
import type { Pool } from 'pg'
import {
  evolve, historyEntry, summarize, type Assistant, type AssistantAtRevision, type AssistantSummary, type HistoryEntry
} from '../src/features/assistants/model.js'
import {
  assistantEventTypes, type AssistantEvent, type AssistantSettings, type AssistantStatus
} from '../src/features/assistants/events.js'
import { isOf, laterOf } from '../src/domain/events.js'
import type { Projection } from './engine/projection.js'
import { iso, type RowOf, table, typed } from './engine/table.js'
import { fold } from './search.js'
import { lookUp } from '../src/postgres/batcher.js'
import { readPage, type Page, type Paged } from '../src/postgres/page.js'

/** A deleted assistant keeps its row, so that later events of its stream create no new one. */
const assistantTable = table({
  name: 'assistants',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    name: 'text',
    status: typed<AssistantStatus | 'deleted'>('text'),
    type: 'text',
    mode: 'text',
    folded_name: 'text',
    settings: typed<AssistantSettings>('json'),
    revision: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  indexes: ['(user_id, created_at DESC, id DESC) INCLUDE (status)', '(user_id, updated_at)']
})

const historyTable = table({
  name: 'assistant_history',
  key: 'id',
  columns: {
    id: 'text',
    assistant_id: 'bigint',
    user_id: 'text',
    revision: 'bigint',
    event: typed<HistoryEntry['event']>('text'),
    at: 'text',
    changes: typed<HistoryEntry['changes']>('json')
  },
  indexes: ['(user_id, assistant_id, revision DESC) INCLUDE (id)']
})

/** Released phone numbers. They are here so that an assistant and its number are read at one position. */
const releasedNumbers = table({
  name: 'released_numbers', key: 'id', columns: { id: 'bigint', released_at: 'timestamptz' }
})

export const assistants: Projection = {
  name: 'assistants',
  version: 7,
  eventTypes: [...assistantEventTypes, 'PhoneNumberReleased'],
  creating: ['AssistantCreated'],
  tables: [assistantTable, historyTable, releasedNumbers],
  keys: (event) => 'assistant_id' in event.data ? [[assistantTable, event.data.assistant_id]] : [],
  project (event, { revision, created }, rows) {
    if (event.type === 'PhoneNumberReleased') {
      return rows.put(releasedNumbers, { id: event.data.phone_number_id, released_at: created.toISOString() })
    }
    if (!isOf<AssistantEvent>(assistantEventTypes, event)) return
    const row = rows.get(assistantTable, event.data.assistant_id)
    if (row && revision <= BigInt(row.revision)) return
    const before = row && toAssistant(row)
    const assistant = evolve(before, event)
    const { assistant_id, user_id } = event.data
    const id = `${assistant_id}@${revision}`
    rows.put(historyTable, { id, assistant_id, user_id, revision: Number(revision), ...historyEntry(before, event) })
    if (assistant) rows.put(assistantTable, toRow(assistant, Number(revision)))
  },
  idsSeen (event) {
    if (event.type !== 'AssistantCreated') return undefined
    return { sequence: 'ledger.assistant_ids', id: event.data.assistant_id }
  }
}

const isThere = "status <> 'deleted'"

/** Leaves out the phone number if it was released. */
export async function findAssistant (db: Pool, userId: string, id: number): Promise<AssistantAtRevision | undefined> {
  const found = await lookUp<{ row: StoredAssistant, released_at: Date | null }>(db, {
    name: 'find-assistant',
    types: ['bigint', 'text'],
    text: `SELECT row_to_json(found) AS row, ${releasedAt('found')} AS released_at FROM (
             SELECT id, user_id, settings, status, revision, created_at, updated_at
             FROM read_model.assistants WHERE id = $1 AND user_id = $2 AND ${isThere}) found`
  }, [id, userId])
  if (!found) return undefined
  const { row, released_at } = found
  const assistant = { ...toAssistant(row), revision: row.revision }
  if (!released_at) return assistant
  const updated_at = laterOf(assistant.updated_at, released_at.toISOString())
  return withoutNumber({ ...assistant, updated_at }, released_at)
}

/** Leaves out the phone number if it was released. */
export async function withoutReleased (db: Pool, assistant: AssistantAtRevision): Promise<AssistantAtRevision> {
  const { settings } = assistant
  if (settings.phone_number_id === null) return assistant
  const { rows: [released] } = await db.query<{ released_at: Date }>({
    name: 'released-number',
    text: 'SELECT released_at FROM read_model.released_numbers WHERE id = $1',
    values: [settings.phone_number_id]
  })
  return released ? withoutNumber(assistant, released.released_at) : assistant
}

const withoutNumber = ({ settings, ...assistant }: AssistantAtRevision, at: Date): AssistantAtRevision =>
  ({ ...assistant, settings: { ...settings, phone_number_id: null }, number_released_at: at.toISOString() })

/** SQL: when the phone number of a row was released. */
const releasedAt = (row: string) => `(
  SELECT released_at FROM read_model.released_numbers WHERE id = (${row}.settings ->> 'phone_number_id')::bigint)`

interface AssistantFilter {
  userId: string
  /** Part of the name, ignoring case and accents. */
  name?: string | undefined
  /** Like `name`; both must match. */
  searched?: string | undefined
  status?: string | undefined
  type?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}

/** A page of the user's assistants, newest first, as `summarize` gave them when their last event was folded. */
export async function findAssistants (
  db: Pool, { userId, name, searched, status, type, updatedFrom }: AssistantFilter, page: Page
): Promise<Paged<AssistantSummary>> {
  return await readPage(db, {
    name: 'assistants',
    columns: 'id, name, status, type, mode, created_at',
    from: 'read_model.assistants',
    key: 'id',
    own: [['user_id = ?', userId], [isThere]],
    filters: [
      ['strpos(folded_name, ?) > 0', name === undefined ? undefined : fold(name)],
      ['strpos(folded_name, ?) > 0', searched === undefined ? undefined : fold(searched)],
      ['status = ?', status],
      ['type = ?', type],
      [`(updated_at >= ? OR ${releasedAt('assistants')} >= ?)`, updatedFrom, updatedFrom]
    ],
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'bigint' } },
    item: "json_build_object('id', id, 'name', name, 'status', status, 'type', type, 'mode', mode)"
  }, page)
}

/** A page of changes, newest first; nothing if the user has no such assistant. */
export async function findAssistantHistory (
  db: Pool, userId: string, assistantId: number, page: Page
): Promise<Paged<HistoryEntry> | undefined> {
  const { rowCount: isTheirs } = await db.query({
    name: 'owns-assistant',
    text: `SELECT FROM read_model.assistants WHERE id = $1 AND user_id = $2 AND ${isThere}`,
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

type AssistantRow = RowOf<typeof assistantTable>
type StoredAssistant = Omit<AssistantRow, 'name' | 'type' | 'mode' | 'folded_name'>

function toAssistant ({ id, user_id, settings, status, created_at, updated_at }: StoredAssistant): Assistant {
  const shared = { assistant_id: id, user_id, settings, created_at: iso(created_at), updated_at: iso(updated_at) }
  return status === 'deleted' ? { ...shared, status: 'inactive', isDeleted: true } : { ...shared, status }
}

function toRow (assistant: Assistant, revision: number): AssistantRow {
  const summary = summarize(assistant)
  const { user_id, settings, created_at, updated_at } = assistant
  const status = assistant.isDeleted ? 'deleted' : summary.status
  const folded_name = fold(summary.name)
  return { ...summary, status, user_id, folded_name, settings, revision, created_at, updated_at }
}
