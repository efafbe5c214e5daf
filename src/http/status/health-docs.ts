// What the API document says of the probes.
import Type from 'typebox'
import { answered, example } from '../docs/describe.js'

const Checks = Type.Optional(Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'For operators: what became of each check, `ok`, `failing` or a remark.'
}))
const Health = Type.Object({ status: Type.String({ description: '`ok`.' }), checks: Checks }, { title: 'Health' })
const NotReady = Type.Object({
  message: Type.String({ description: 'What is wrong, for a person to read.' }),
  status: Type.String({ description: '`failing`, or `draining` of a process that is stopping.' }),
  checks: Checks
}, { title: 'NotReady' })

const notReady = {
  ...example(NotReady, { message: 'The service is not ready.', status: 'failing' }),
  'x-response-description': 'It cannot do its work now, or is stopping.'
}

export const liveSchema = {
  operationId: 'isLive',
  summary: 'Ask whether the process lives',
  description: 'Asks no back end. It has no limit and needs no token.',
  tags: ['health'],
  response: { 200: answered('It lives.', Health, { status: 'ok' }) }
}

export const readySchema = {
  operationId: 'isReady',
  summary: 'Ask whether the process is ready for requests',
  description: 'It has no limit and needs no token. A token of the role ops is told of each check.',
  tags: ['health'],
  response: { 200: answered('It is ready.', Health, { status: 'ok' }), 503: notReady }
}

/** The schemas are for readers: probes are answered as they ever were. */
export const ofProbes = { logLevel: 'warn' as const, serializerCompiler: () => JSON.stringify }
