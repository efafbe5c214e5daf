// The rows that a projection must have: the fold of the log in maps, one event after the other.
import { assistants } from '../../../projections/assistants.js'
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
