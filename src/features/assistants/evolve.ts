// How an assistant's events add up.
import type { AssistantEvent, AssistantStatus } from './events.js'
import { laterOf } from '../../domain/time/later-of.js'
import type { AssistantSettings } from './settings.js'

export interface Assistant {
  assistant_id: number
  user_id: string
  settings: AssistantSettings
  status: AssistantStatus
  created_at: string
  updated_at: string
  /** It was deleted: to its user it is as if it had never been. Its id is not given out again. */
  isDeleted?: true
}

/** An assistant together with the revision of its last event. */
export interface AssistantAtRevision extends Assistant {
  revision: number
  /** Its settings had a phone number that was released then; no event of the assistant says so. */
  number_released_at?: string
}

/** Nothing yet, or the assistant. */
export type AssistantState = Assistant | undefined

export function evolve (state: AssistantState, event: AssistantEvent): AssistantState {
  switch (event.type) {
    case 'AssistantCreated': {
      const { created_at, ...created } = event.data
      return { ...created, created_at, updated_at: created_at }
    }
    case 'AssistantUpdated': {
      const { changes, updated_at } = event.data
      return state && changed(state, { settings: { ...state.settings, ...changes } }, updated_at)
    }
    case 'AssistantActivated': return state && changed(state, { status: 'active' }, event.data.activated_at)
    case 'AssistantDeactivated': return state && changed(state, { status: 'inactive' }, event.data.deactivated_at)
    case 'AssistantDeleted': return state && changed(state, { isDeleted: true }, event.data.deleted_at)
    default: return event satisfies never
  }
}

const changed = (state: Assistant, changes: Partial<Assistant>, at: string): Assistant =>
  ({ ...state, ...changes, updated_at: laterOf(state.updated_at, at) })
