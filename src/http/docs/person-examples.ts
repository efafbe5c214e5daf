// Requests for a person's data in the examples of the API document.
import { customerNumber } from '../../domain/examples.js'
import type { BegunPersonRequest, PersonRequestAnswer } from '../../features/persons/summary.js'
import { callId } from './examples.js'

export const personRequestId = 'c56a4180-65aa-42ec-a945-5fd21dec0538'

export const begunExport: BegunPersonRequest = { id: personRequestId, type: 'export', status: 'processing' }

export const begunErasure: BegunPersonRequest = { ...begunExport, type: 'erasure' }

export const personRequest: PersonRequestAnswer = {
  ...begunExport, status: 'completed', created_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:02.000Z'
}

export const person = { phone_number: customerNumber }

export const exportedPerson = {
  ...person,
  exported_at: '2026-01-31T12:00:02.000Z',
  leads: [{ id: 1, phone_number: person.phone_number }],
  contacts: [],
  calls: [{ call_id: callId }],
  deliveries: [],
  blacklist_entry: null
}
