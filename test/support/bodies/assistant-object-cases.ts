// Values of `end_call_tool` and `post_call_schema` that are taken, and values that are refused with their errors.
import { smiley } from './field-cases.js'

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
