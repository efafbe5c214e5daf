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
  | 'not-ready'
  | 'gone'
  /** So much of this kind is under way for the user that no more is taken: later it may be. */
  | 'too-many'

export class Rejection extends Error {
  override readonly name = 'Rejection'
  constructor (readonly code: RejectionCode, message: string, readonly errors?: FieldErrors) {
    super(message)
  }
}

/** Refuses these fields. */
export const invalid = (errors: FieldErrors) => new Rejection('invalid', 'The given data was invalid.', errors)
