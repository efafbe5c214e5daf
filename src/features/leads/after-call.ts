// What the report of a call does to the lead it was made for.
import type { CallCompleted } from '../calls/events.js'
import type { LeadStatus } from './status.js'

/** How far the calling of a lead has come. */
export interface Calling {
  status: LeadStatus
  /** When the latest of its reported calls ended, ISO 8601; null before the first one. */
  newest_report_at: string | null
}

type Report = Pick<CallCompleted, 'lead_status' | 'status' | 'ended_at'>

/**
 * The lead after the report; nothing when that is of a call that ended before the latest one, as it changes nothing.
 * The status that the engine gives counts; without one a completed call completes the lead, any other leaves it. A lead
 * that is blacklisted stays so, whatever an engine reports: only a command of its user ends that.
 */
export function afterCall ({ status, newest_report_at }: Calling, report: Report): Calling | undefined {
  const endedAt = new Date(report.ended_at) // to the millisecond, as Postgres would round what is finer
  if (newest_report_at !== null && endedAt.getTime() < Date.parse(newest_report_at)) return undefined
  const moved = status === 'blacklisted' ? status : statusGiven(report) ?? status
  return { status: moved, newest_report_at: endedAt.toISOString() }
}

function statusGiven ({ lead_status, status }: Report): LeadStatus | undefined {
  return lead_status ?? (status === 'completed' ? 'completed' : undefined)
}
