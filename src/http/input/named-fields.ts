// How many refused fields an answer names: a hostile body has more of them than anybody reads.
import type { FieldErrors } from '../../domain/rejection.js'

/** So many fields one answer names. What collects them may stop after one more. */
export const mostFields = 500

/** The errors as they are answered: of too many the first, and under `body` that there are more. */
export function firstFields (errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors)
  if (entries.length <= mostFields) return errors
  const more = `has more wrong fields than the ${mostFields} that are named here`
  return { ...Object.fromEntries(entries.slice(0, mostFields)), body: [...errors.body ?? [], more] }
}
