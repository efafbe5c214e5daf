// What the app's own validators say of a body.
import type { TSchema } from 'typebox'
import type { FieldErrors } from '../../../src/domain/rejection.js'
import { fieldErrors } from '../../../src/http/input/schema-errors.js'
import { validatorCompiler } from '../../../src/http/input/validators.js'

/** Answers, for a body, every refused field with every reason; nothing for a body that the schema takes. */
export function refusals (schema: TSchema): (body: unknown) => FieldErrors {
  const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
  return (body) => {
    const outcome: unknown = validate(body)
    if (outcome === true) return {}
    return fieldErrors(Reflect.get(validate, 'errors') ?? [])
  }
}
