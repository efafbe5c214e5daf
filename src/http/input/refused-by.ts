// Holds a value that did not come with this request to the schema of a body.
import type { TSchema } from 'typebox'
import type { FieldErrors } from '../../domain/rejection.js'
import { fieldErrors } from './schema-errors.js'
import { validatorCompiler } from './validators.js'

/** What the schema refuses of a value, by field. Compiled when it is first asked. */
export function refusedBy (schema: TSchema): (value: object) => FieldErrors {
  let validate: ReturnType<typeof validatorCompiler> | undefined
  return (value) => {
    validate ??= validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '' })
    validate(value)
    return fieldErrors(validate.errors ?? [])
  }
}
