// Turns answers into JSON by their schemas, each of which is compiled for the first answer that needs it.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'
import type { TSchema } from 'typebox'

type Serialize = (data: unknown) => string

const compile = SerializerSelector()({}, {})

/** Of all apps of this process. Schemas are constants, so there are as many as routes have. */
const compiled = new WeakMap<object, Serialize>()

/** As Fastify's own, which compiles each schema once more for each route and app, before the first request. */
export const serializerCompiler: FastifySerializerCompiler<TSchema> = (route) => (data) => {
  const serialize = compiled.get(route.schema) ?? compile({ ...route, httpStatus: route.httpStatus ?? '' })
  compiled.set(route.schema, serialize)
  return serialize(data)
}
