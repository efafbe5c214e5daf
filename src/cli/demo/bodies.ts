// What the demo sends: the examples of the API document, as an appointment to confirm.
import { customer, frontDesk } from '../../domain/examples.js'
import { completedCall, newLead as exampleLead } from '../../http/docs/examples.js'

export const newCampaign = { name: 'Appointments to confirm' }
/** None of the catalogue's. */
export const newNumber = { phone_number: '+15551230050' }

export const newAssistant = {
  ...frontDesk,
  calls_direction: 'make',
  initial_message: 'Hello, this is the front desk calling about your appointment.',
  system_prompt: 'You confirm appointments. Be brief and friendly.',
  post_call_schema: [{ name: 'confirmed', type: 'bool', description: 'Whether the appointment was confirmed' }]
}

export const newLead = {
  ...exampleLead,
  variables: { ...customer, appointment: 'Tuesday 10:00' },
  secondary_contacts: [...exampleLead.secondary_contacts ?? [], { phone_number: '+15551230102' }]
}

export const listedNumber = '+15551230113'
/** CSV: a header line, three people to call, and one who is not to be called. */
export const importedLeads = [
  'phone_number,customer_name,email,appointment',
  '+15551230110,Cleo Example,cleo@example.com,Tuesday 11:00',
  '+15551230111,"Example, Dan",,Tuesday 11:30',
  '+15551230112,Eve Example,eve@example.com,Tuesday 12:00',
  `${listedNumber},Finn Example,,Tuesday 12:30`
].join('\r\n')

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
