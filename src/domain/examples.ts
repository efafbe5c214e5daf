// Data of the examples in the API document, the demo, the benches and the tests. Fits examples/catalog.json.

/** The nine required fields of an assistant. */
export const frontDesk = {
  assistant_name: 'Front desk',
  voice_id: 1,
  language: 'English',
  llm_model: 'gpt-4o',
  calls_direction: 'receive' as const,
  engine_type: 'pipeline' as const,
  timezone: 'Europe/Amsterdam',
  initial_message: 'Hello, how can I help?',
  system_prompt: 'You are a friendly receptionist.'
}

/** The number of the assistant, that of the customer, and that of another person to call for the customer. */
export const ownNumber = '+15551230001'
export const customerNumber = '+15551230100'
export const otherNumber = '+15551230101'

export const customer = { customer_name: 'Ada Example', email: 'ada@example.com' }
