// How far the calling of a lead has come.
import Type from 'typebox'

export const leadStatuses = [
  'created', 'scheduled', 'processing', 'completed', 'rescheduled', 'reached-max-retries', 'blacklisted'
] as const
export type LeadStatus = typeof leadStatuses[number]

export const LeadStatus = (options: object) => Type.Enum([...leadStatuses], { title: 'LeadStatus', ...options })
