// The rules for an import: it is requested once, and ends once.
import type { Decider } from '../../domain/events.js'
import { type DuplicateRule, type LeadImportEvent, leadImportEventTypes } from './events.js'

/** Its rows by outcome. */
export interface ImportCounts { total: number, created: number, duplicates: number, invalid: number }
interface EndImport extends ImportCounts { type: 'end', reason: string | null, now: string }

/** The command's id is the import's. */
interface RequestImport {
  campaign_id: number
  if_duplicate: DuplicateRule
  total: number
  userId: string
  now: string
  commandId: string
}

/** Undefined before its creation. */
export type LeadImportState =
  { import_id: string, user_id: string, campaign_id: number, total: number, hasEnded?: true } | undefined

const leadImport = {
  initialState: undefined,
  eventTypes: leadImportEventTypes,
  evolve (state: LeadImportState, event: LeadImportEvent): LeadImportState {
    switch (event.type) {
      case 'LeadImportRequested': {
        const { import_id, user_id, campaign_id, total } = event.data
        return { import_id, user_id, campaign_id, total }
      }
      case 'LeadImportCompleted':
      case 'LeadImportFailed': return state && { ...state, hasEnded: true }
      default: return event satisfies never
    }
  },
  isWrittenOnce: true as const,
  skipsUnreadable: true as const
}

export const requestDecider: Decider<LeadImportState, LeadImportEvent, RequestImport> = {
  ...leadImport,
  decide ({ commandId, userId, campaign_id, if_duplicate, total, now }, state) {
    if (state) return []
    const data = { import_id: commandId, user_id: userId, campaign_id, if_duplicate, total, requested_at: now }
    return [{ type: 'LeadImportRequested', data }]
  }
}

export const endDecider: Decider<LeadImportState, LeadImportEvent, EndImport> = {
  ...leadImport,
  decide ({ total, created, duplicates, invalid, reason, now }, state) {
    if (!state || state.hasEnded) return []
    const { import_id, user_id, campaign_id } = state
    const data = { import_id, user_id, campaign_id, total, created, duplicates, invalid }
    return reason === null
      ? [{ type: 'LeadImportCompleted', data: { ...data, completed_at: now } }]
      : [{ type: 'LeadImportFailed', data: { ...data, reason, failed_at: now } }]
  }
}
