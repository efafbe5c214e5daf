// The rows that a projection must have: the fold of the log in maps, one event after the other.
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { isAssistantEvent } from '../../../src/features/assistants/events.js'
import { evolve, type AssistantState } from '../../../src/features/assistants/model.js'
import { DecodeError, decode, type DomainEvent } from '../../../src/domain/events.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'

/** Rows by key, and what is parked as `stream@revision`. */
export interface Model { wanted: Map<unknown, object>, parked: string[] }

/** `step` answers false when the event contradicts what is there. */
export function fold (
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

/** `refuses` tells which rows Postgres does not take. */
export function assistantModel (log: StoredEvent[], refuses = (_id: number, _name: string) => false): Model {
  const states = new Map<number, { state: NonNullable<AssistantState>, revision: number }>()
  const parked = fold(assistants, log, (event, { revision }) => {
    if (!isAssistantEvent(event)) return true
    const id = event.data.assistant_id
    const state = evolve(states.get(id)?.state, event)
    if (state && refuses(id, state.settings.assistant_name)) return false
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

export function callModel (log: StoredEvent[]): Model {
  const rows = new Map<string, object>()
  const assistantOwners = new Map<number, string>()
  const leadOwners = new Map<number, { user_id: string, lead: object }>()
  const addContacts = (primary_lead_id: number, user_id: string, contacts: { id: number }[] = []) => {
    for (const { id } of contacts) leadOwners.set(id, { user_id, lead: { id, primary_lead_id } })
  }
  const parked = fold(calls, log, (event, { position }) => {
    if (event.type === 'AssistantCreated') assistantOwners.set(event.data.assistant_id, event.data.user_id)
    if (event.type === 'LeadCreated') {
      const { lead_id, secondary_contacts, user_id } = event.data
      leadOwners.set(lead_id, { user_id, lead: { id: lead_id } })
      addContacts(lead_id, user_id, secondary_contacts)
    }
    if (event.type === 'LeadUpdated') {
      addContacts(event.data.lead_id, event.data.user_id, event.data.changes.secondary_contacts)
    }
    if (event.type === 'CallCompleted' && !rows.has(event.data.call_id)) {
      const { call_id, assistant_id, lead_id, status } = event.data
      const user_id = assistantOwners.get(assistant_id) ?? null
      const named = leadOwners.get(lead_id ?? 0)
      const isOwn = user_id !== null && named?.user_id === user_id
      const summary = { lead: isOwn ? named.lead : null }
      const owned = { id: call_id, user_id, assistant_id, lead_id: isOwn ? lead_id : null, status, summary }
      rows.set(call_id, { ...owned, report: user_id === null ? null : event.data, position: Number(position) })
    }
    return true
  })
  return { wanted: rows, parked }
}
