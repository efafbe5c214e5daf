// What checks data from outside against schemas of ours.
import { Ajv, type Options } from 'ajv'

/** Every problem at once. The schemas are ours: to check them as well takes a tenth of a second at each start. */
export const openAjv = (options?: Options): Ajv =>
  new Ajv({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false, ...options })
