// How many refused fields an answer or a row names: a hostile body has more of them than anybody reads.
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

/** So many errors of a row of an import are kept for 30 days. */
const mostOfRow = 5
const counted = /^has (\d+) more errors$/

/** The first errors of a row, its phone number first; `row` says how many more there are, also when it is cut again. */
export function firstOfRow ({ row = [], ...fields }: FieldErrors): FieldErrors {
  const earlier = Number(counted.exec(row.at(-1) ?? '')?.[1] ?? 0)
  const own = { phone_number: [], ...fields, row: earlier > 0 ? row.slice(0, -1) : row }
  const all = Object.entries(own).flatMap(([field, words]) => words.map((word) => [field, word] as const))
  const more = earlier + Math.max(0, all.length - mostOfRow)
  const kept: FieldErrors = {}
  for (const [field, word] of all.slice(0, mostOfRow)) kept[field] = [...kept[field] ?? [], word]
  return more > 0 ? { ...kept, row: [...kept.row ?? [], `has ${more} more errors`] } : kept
}
