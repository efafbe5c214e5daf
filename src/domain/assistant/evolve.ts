// How an assistant's events add up.
import type { AssistantEvent, AssistantStatus } from './events.js'
import { laterOf } from '../time/later-of.js'
import type { AssistantSettings } from './settings.js'

export interface Assistant {
  assistant_id: number
  user_id: string
  settings: AssistantSettings
  status: AssistantStatus
  created_at: string
  updated_at: string
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
      if (!state) return undefined
      const settings = { ...state.settings, ...changes }
      return { ...state, settings, updated_at: laterOf(state.updated_at, updated_at) }
    }
    default: return event satisfies never
  }
}
