// Values that a field takes, and values that it refuses with their messages, by the kind of the field.

export interface FieldCase {
  good: unknown[]
  bad: [value: unknown, ...messages: string[]][]
}

export const smiley = '😀' // two UTF-16 units, one code point
export const notA = (message: string, ...values: unknown[]): FieldCase['bad'] => values.map((value) => [value, message])
export const notText = notA('must be a string', 5, true, null, [], {})

export function text (longest?: number): FieldCase {
  const limits: FieldCase = longest === undefined
    ? { good: ['x'.repeat(20_000)], bad: [] }
    : {
        good: ['x'.repeat(longest), smiley.repeat(longest)],
        bad: notA(`must be at most ${longest} characters`, 'x'.repeat(longest + 1), smiley.repeat(longest + 1))
      }
  return { good: ['x', ' ', 'a\nb\t"\\', ...limits.good], bad: [['', 'must not be empty'], ...limits.bad, ...notText] }
}

/** Zero-width space and joiner, soft hyphen, mark of direction, Hangul filler, blank of Braille, tag, control. */
const invisible = ['\u200b', '\u200d\u200c', '\u00ad', '\u202e ', '\u3164', '\u2800', '\u{e0041}', '\u0001', '\ufe0f']

/** A text that people know something by. */
export function label (longest: number): FieldCase {
  const { good, bad } = text(longest)
  const blank = notA('must not be blank', ' ', '   ', '\n', '\t \u00a0', '\u2003', ...invisible)
  return { good: good.map((value) => value === ' ' ? ' x ' : value).concat('👩‍👧', 'نام‌ها', '́'), bad: [...bad, ...blank] }
}

export const flag: FieldCase = { good: [true, false], bad: notA('must be true or false', 'true', 1, 0, null, [], {}) }

export const choice = (...values: string[]): FieldCase => ({
  good: values,
  bad: notA(
    `must be one of: ${values.join(', ')}`, '', `${values[0]} `, values[0]?.toUpperCase(), 0, null, true, [values[0]]
  )
})

export const number = (least: number, most: number): FieldCase => ({
  good: [least, most, (least + most) / 2],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 0.001, most + 0.001, -1e9, 1e9),
    ...notA('must be a number', String(most), null, true, [], {})
  ]
})

export const whole = (least: number, most: number): FieldCase => ({
  good: [least, most, least + 1],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 1, most + 1),
    ...notA('must be an integer', least + 0.5, String(most), null, true, [], {})
  ]
})

/** `owned` by the user or there for everybody; `missing` for everything else that could be one. */
export const id = (type: string, owned: unknown[], missing: string, ...others: number[]): FieldCase => ({
  good: owned,
  bad: [
    ...notA(missing, ...others, 2 ** 31, Number.MAX_SAFE_INTEGER), ...notA('must be at least 1', 0, -1),
    ...notA('must be between 1 and 9007199254740991', 2 ** 53, 1e300),
    ...notA(`must be ${type}`, 1.5, '1', true, [], {})
  ]
})

export const literal = 'end_call_tool.description'

export const takenTools: [body: object, stored: unknown][] = [
  ...['', 'x'.repeat(500), smiley.repeat(500)].flatMap((description): [object, unknown][] => [
    [{ end_call_tool: { description } }, { description }],
    [{ end_call_tool: null }, null],
    [{ [literal]: description }, { description }]
  ]),
  [{ end_call_tool: {} }, {}],
  [{ end_call_tool: { description: 'same' }, [literal]: 'same' }, { description: 'same' }]
]

/** Both spellings at once, with different values. */
export const contradictoryTools: object[] = [
  { end_call_tool: { description: 'object' }, [literal]: 'literal' },
  { end_call_tool: { description: 'literal ' }, [literal]: 'literal' },
  { end_call_tool: {}, [literal]: 'literal' },
  { end_call_tool: {}, [literal]: '' },
  { end_call_tool: null, [literal]: 'literal' },
  { end_call_tool: null, [literal]: '' }
]

export const refusedDescriptions: [value: unknown, message: string][] = [
  ...['x'.repeat(501), smiley.repeat(501)].map((value): [string, string] => [value, 'must be at most 500 characters']),
  ...[null, 5, true, [], {}].map((value): [unknown, string] => [value, 'must be a string'])
]

const item = { name: 'a_1', type: 'string', description: 'x' }

export const takenSchemas = [
  [],
  [item, { ...item, name: 'constructor' }, { ...item, name: '__proto' }],
  ['string', 'number', 'bool'].map((type) => ({ ...item, name: type, type })),
  [{ ...item, name: 'A'.repeat(255), description: smiley }],
  Array.from({ length: 50 }, (_, index) => ({ ...item, name: `n${index}` }))
]

type RefusedSchema = [schema: unknown, errors: Record<string, string[]>]

const unfit = 'may only contain letters, digits and underscores'
const noType = 'must be one of: string, number, bool'
const repeated = 'must be unique in the schema'

export const refusedSchemas: RefusedSchema[] = [
  ...[null, {}, 'x', 5].map((value): RefusedSchema => [value, { post_call_schema: ['must be an array'] }]),
  [[item, null, 'x'], { 'post_call_schema.1': ['must be an object'], 'post_call_schema.2': ['must be an object'] }],
  [[{}], {
    'post_call_schema.0.name': ['is required'],
    'post_call_schema.0.type': ['is required'],
    'post_call_schema.0.description': ['is required']
  }],
  ...['a-b', 'a b', 'a\n', 'é', 'a.b'].map((name): RefusedSchema =>
    [[item, { ...item, name }], { 'post_call_schema.1.name': [unfit] }]),
  [[{ ...item, name: '' }], { 'post_call_schema.0.name': ['must not be empty', unfit] }],
  [[item, { ...item, name: 'A'.repeat(256) }], { 'post_call_schema.1.name': ['must be at most 255 characters'] }],
  [[{ ...item, name: '__proto__' }], { 'post_call_schema.0.name': ['must not be __proto__'] }],
  ...['boolean', 'String', '', 5, null].map((type): RefusedSchema =>
    [[{ ...item, type }], { 'post_call_schema.0.type': [noType] }]),
  [[{ ...item, description: '' }], { 'post_call_schema.0.description': ['must not be empty'] }],
  [[{ ...item, name: 5, description: null }], {
    'post_call_schema.0.name': ['must be a string'], 'post_call_schema.0.description': ['must be a string']
  }],
  [[item, item, { ...item, name: 'A_1' }, item], {
    'post_call_schema.1.name': [repeated], 'post_call_schema.3.name': [repeated]
  }],
  [[item, item, null, { ...item, type: 'x' }], {
    'post_call_schema.1.name': [repeated],
    'post_call_schema.2': ['must be an object'],
    'post_call_schema.3.name': [repeated],
    'post_call_schema.3.type': [noType]
  }]
]
