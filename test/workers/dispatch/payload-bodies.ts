// Bodies of webhooks, and how a test reads them.
import type { AssistantSettings } from '../../../src/features/assistants/events.js'
import type { CallCompleted } from '../../../src/features/calls/events.js'
import { buildBody, type PayloadLead } from '../../../workers/dispatch/payload.js'
import { call, settings } from '../../support/events/call-events.js'

export const at = new Date('2026-01-31T12:01:02.345Z')

export const lead: PayloadLead = {
  id: 7,
  primary_id: null,
  user_id: '1',
  campaign_id: 3,
  phone_number: '+15551230001',
  variables: { zeta: 1, customer_name: 'Ada', email: '' },
  status: 'completed'
}

export function body (
  given: Partial<CallCompleted> = {}, set: Partial<AssistantSettings> = {}, of: PayloadLead | undefined = lead
): string {
  return buildBody({
    call: call('c-1', given),
    at,
    assistant: { assistant_id: 1, user_id: '1', settings: settings(set) },
    lead: of,
    campaignName: 'Spring'
  })
}

export const read = (text: string) => JSON.parse(text)
