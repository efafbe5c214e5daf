// What a call does to the lead it was made for.
import type { CallCompleted } from '../call/events.js'
import type { LeadStatus } from './status.js'

/** The status that the engine gives; without one a completed call completes the lead, any other leaves it. */
export function statusAfterCall (
  { lead_status, status }: Pick<CallCompleted, 'lead_status' | 'status'>
): LeadStatus | undefined {
  return lead_status ?? (status === 'completed' ? 'completed' : undefined)
}
