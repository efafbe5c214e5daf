// Requests that the API accepts on the example catalogue. A test changes only the fields that it is about.
import { customerNumber, frontDesk, ownNumber } from '../../../src/domain/examples.js'

/** The nine required fields and nothing else. */
export const newAssistant = (given: object = {}): object => ({ ...frontDesk, ...given })

export const newLead = (given: object = {}): object => ({ phone_number: customerNumber, campaign_id: 1, ...given })

export const callReport = (assistantId: number, given: object = {}): object => ({
  assistant_id: assistantId,
  lead_id: null,
  status: 'completed',
  direction: 'inbound',
  from: customerNumber,
  to: ownNumber,
  started_at: '2026-01-31T09:00:00Z',
  ended_at: '2026-01-31T09:00:42Z',
  duration: 42,
  recording_url: 'https://recordings.example.com/1.mp3',
  transcript: [
    { role: 'assistant', text: frontDesk.initial_message, at: 0.4 }, { role: 'customer', text: 'Grüezi 👋', at: 2 }
  ],
  input_variables: {},
  extracted_variables: { status: true, summary: 'A greeting' },
  evaluation: null,
  ...given
})

export const requiredFields = {
  ...frontDesk,
  calls_direction: 'make' as const,
  initial_message: 'Hello',
  system_prompt: 'Be kind.'
}
