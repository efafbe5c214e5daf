// An import of leads, in the story of examples.ts.

export const importId = '3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10'

export const leadImport = {
  id: importId,
  status: 'completed' as const,
  total: 3,
  processed: 3,
  created: 1,
  duplicates: 1,
  invalid: 1,
  reason: null,
  created_at: '2026-01-31T11:58:00.000Z',
  finished_at: '2026-01-31T11:58:02.000Z'
}

export const importedRow = {
  row: 3,
  outcome: 'invalid' as const,
  lead_id: null,
  errors: { phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }
}
