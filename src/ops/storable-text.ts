// Text of forms and addresses that Postgres and the event store take.
import Type from 'typebox'

/** Without NUL, in at most so many characters. */
export const storableText = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, pattern: '^[^\\u0000]*$' })
