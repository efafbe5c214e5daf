// What the demo sends: the examples of the API document, as an appointment to confirm.
import { customer, frontDesk } from '../../domain/examples.js'
import { completedCall, newLead as exampleLead } from '../../http/docs/examples.js'

export const newAssistant = {
  ...frontDesk,
  calls_direction: 'make',
  initial_message: 'Hello, this is the front desk calling about your appointment.',
  system_prompt: 'You confirm appointments. Be brief and friendly.',
  phone_number_id: 1,
  post_call_schema: [{ name: 'confirmed', type: 'bool', description: 'Whether the appointment was confirmed' }]
}

export const newLead = {
  ...exampleLead,
  variables: { ...customer, appointment: 'Tuesday 10:00' },
  secondary_contacts: [...exampleLead.secondary_contacts ?? [], { phone_number: '+15551230102' }]
}

export const report = (assistantId: number, leadId: number): object => ({
  ...completedCall,
  assistant_id: assistantId,
  lead_id: leadId,
  transcript: [
    { role: 'assistant', text: newAssistant.initial_message, at: 0.4 },
    { role: 'customer', text: 'Yes, Tuesday at ten is fine.', at: 6.1 }
  ],
  input_variables: newLead.variables,
  extracted_variables: { confirmed: true }
})
