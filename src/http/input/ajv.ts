// What checks data from outside against schemas of ours.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'

/** Every problem at once. The schemas are ours: to check them as well takes a tenth of a second at each start. */
export const openAjv = (options?: Options): Ajv =>
  new Ajv({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false, ...options })

/** What a text must be to be taken as a number: JavaScript would read `0x10`, `1e1` and ` 5` as well. */
const decimals: Record<string, RegExp> = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ }

/** The texts that stand for numbers and are not decimal. Asked before validation, which coerces them. */
export function notDecimal (schema: object, values: unknown): ErrorObject[] {
  if (typeof values !== 'object' || values === null) return []
  const { properties = {} }: { properties?: Record<string, { type?: string }> } = schema
  return Object.entries(properties).flatMap(([name, { type = '' }]) => {
    const text: unknown = Reflect.get(values, name)
    if (typeof text !== 'string' || decimals[type]?.test(text) !== false) return []
    return [{ keyword: 'type', instancePath: `/${name}`, schemaPath: `#/properties/${name}/type`, params: { type } }]
  })
}

/** All that is wrong; a number that is not decimal is told once. */
export function withNotDecimal (refused: ErrorObject[], odd: ErrorObject[]): ErrorObject[] {
  const told = new Set(refused.map(({ instancePath }) => instancePath))
  return [...refused, ...odd.filter(({ instancePath }) => !told.has(instancePath))]
}

/** All that is wrong with texts, which are coerced in place. */
export function refusedTexts<Taken> (validate: ValidateFunction<Taken>, schema: object, texts: unknown): ErrorObject[] {
  const odd = notDecimal(schema, texts)
  validate(texts)
  return withNotDecimal(validate.errors ?? [], odd)
}
