// Facts that the rules need, from back ends that may be away.
import type { FieldErrors } from '../domain/rejection.js'

/**
 * What the look-up finds. When it fails and the schema has refused the body anyway, `harmless`: that refusal needs
 * no back end, and names at least what is known.
 * @throws what the look-up fails with, when the body may be sound
 */
export async function factsFor<Facts> (refused: FieldErrors, lookUp: Promise<Facts>, harmless: Facts): Promise<Facts> {
  return await lookUp.catch((error: unknown) => {
    if (Object.keys(refused).length === 0) throw error
    return harmless
  })
}
