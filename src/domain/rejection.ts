// A refusal with a stable code; errors.ts maps each code to its HTTP status.

/** Every problem of every field; paths have dots: `post_call_schema.0.name`. */
export type FieldErrors = Record<string, string[]>

export type RejectionCode =
  | 'invalid'
  | 'assistant-not-found'
  | 'id-taken'
  | 'not-found'
  | 'revision-mismatch'
  | 'call-differs'
  | 'catalog-conflict'
  | 'too-large'
  | 'webhook-refused'

export class Rejection extends Error {
  override readonly name = 'Rejection'
  constructor (readonly code: RejectionCode, message: string, readonly errors?: FieldErrors) {
    super(message)
  }
}

/** Refuses when any field has a problem. @throws Rejection `invalid` */
export function refuseInvalid (errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw new Rejection('invalid', 'The given data was invalid.', errors)
}

/** What a rule answers: the field and its problem, or nothing when the rule holds. */
export type Problem = { field: string, message: string } | undefined

/** Joins what the schema refused with what the rules found; all of it is told at once. */
export function collect (refused: FieldErrors, problems: Problem[]): FieldErrors {
  const errors: FieldErrors = { ...refused }
  for (const problem of problems) {
    if (problem) errors[problem.field] = [...(errors[problem.field] ?? []), problem.message]
  }
  return errors
}
