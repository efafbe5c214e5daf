// The rows that a projection must have: the fold of the log in maps, one event after the other.
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { isAssistantEvent } from '../../../src/domain/assistant/events.js'
import { evolve, type AssistantState } from '../../../src/domain/assistant/evolve.js'
import { DecodeError, decode, type DomainEvent } from '../../../src/domain/events.js'
import { leadOf } from '../../../src/domain/lead/evolve.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'

/** Rows by key, and what is parked as `stream@revision`. */
export interface Model { wanted: Map<unknown, object>, parked: string[] }

/** `step` answers false when the event contradicts what is there. */
function fold (
  projection: Projection, log: StoredEvent[], step: (event: DomainEvent, stored: StoredEvent) => boolean
): string[] {
  const parkedStreams = new Set<string>()
  const parked: string[] = []
  for (const stored of log.filter(({ type }) => projection.eventTypes.some((known) => known === type))) {
    if (!parkedStreams.has(stored.stream) && isFolded(stored)) continue
    parkedStreams.add(stored.stream)
    parked.push(`${stored.stream}@${stored.revision}`)
  }
  return parked

  function isFolded (stored: StoredEvent): boolean {
    try {
      const event = decode(stored)
      return event === undefined || step(event, stored)
    } catch (error) {
      if (error instanceof DecodeError) return false
      throw error
    }
  }
}

/** `takes` tells which names the table may hold. */
export function assistantModel (log: StoredEvent[], takes = (_name: string) => true): Model {
  const states = new Map<number, { state: NonNullable<AssistantState>, revision: number }>()
  const parked = fold(assistants, log, (event, { revision }) => {
    if (!isAssistantEvent(event)) return true
    const id = event.data.assistant_id
    const state = evolve(states.get(id)?.state, event)
    if (state && !takes(state.settings.assistant_name)) return false
    if (state) states.set(id, { state, revision: Number(revision) })
    return true
  })
  const wanted = [...states].map(([id, { state, revision }]) => {
    const { assistant_id, isDeleted, status, ...rest } = state
    const shown = { id, name: rest.settings.assistant_name, status: isDeleted ? 'deleted' : status, revision }
    return [id, { ...rest, ...shown }] as const
  })
  return { wanted: new Map(wanted), parked }
}

interface LeadRow {
  stream: string
  user_id: string
  status: string
  updated_at: string
  newest_report_at: string | null
  primary_id: number | null
}

/** `takes` tells which statuses the table may hold. */
export function leadModel (log: StoredEvent[], takes = (_status: string) => true): Model {
  const rows = new Map<number, LeadRow>()
  const owners = new Map<number, string>()
  const reported = new Set<string>()
  const parked = fold(leads, log, (event, { stream, created }) => {
    if (event.type === 'AssistantCreated') owners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') {
      const { id, user_id, secondary_contacts, created_at } = leadOf(event)
      const ids = [id, ...secondary_contacts.map((contact) => contact.id)]
      if (ids.some((one) => rows.has(one) && rows.get(one)?.stream !== stream)) return false
      const row = { stream, user_id, status: 'created', updated_at: created_at, newest_report_at: null }
      for (const one of ids.filter((one) => !rows.has(one))) {
        rows.set(one, { ...row, primary_id: one === id ? null : id })
      }
    }
    if (event.type === 'CallCompleted' && !reported.has(event.data.call_id)) {
      reported.add(event.data.call_id)
      const row = rows.get(event.data.lead_id ?? 0)
      if (!row || owners.get(event.data.assistant_id) !== row.user_id) return true
      const { lead_status, status: ended, ended_at } = event.data
      if (row.newest_report_at !== null && Date.parse(ended_at) < Date.parse(row.newest_report_at)) return true
      const given = lead_status ?? (ended === 'completed' ? 'completed' : row.status)
      const status = row.status === 'blacklisted' ? row.status : given
      if (!takes(status)) return false
      const moved = status !== row.status && created.toISOString() > row.updated_at
      Object.assign(row, {
        status, newest_report_at: ended_at, updated_at: moved ? created.toISOString() : row.updated_at
      })
    }
    return true
  })
  return { wanted: rows, parked }
}

export function callModel (log: StoredEvent[]): Model {
  const rows = new Map<string, object>()
  const [assistantOwners, leadOwners] = [new Map<number, string>(), new Map<number, string>()]
  const parked = fold(calls, log, (event, { position }) => {
    if (event.type === 'AssistantCreated') assistantOwners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') {
      const { lead_id, secondary_contacts, user_id } = event.data
      for (const { id } of [{ id: lead_id }, ...secondary_contacts]) leadOwners.set(id, user_id)
    }
    if (event.type === 'CallCompleted' && !rows.has(event.data.call_id)) {
      const { call_id, assistant_id, lead_id, status } = event.data
      const user_id = assistantOwners.get(assistant_id) ?? null
      const isOwn = lead_id !== null && user_id !== null && leadOwners.get(lead_id) === user_id
      const owned = { id: call_id, user_id, assistant_id, lead_id: isOwn ? lead_id : null, status }
      rows.set(call_id, { ...owned, report: event.data, position: Number(position) })
    }
    return true
  })
  return { wanted: rows, parked }
}
