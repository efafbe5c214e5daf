// How far the calling of a lead has come.

export const leadStatuses = [
  'created', 'scheduled', 'processing', 'completed', 'rescheduled', 'reached-max-retries', 'blacklisted'
] as const
export type LeadStatus = typeof leadStatuses[number]
