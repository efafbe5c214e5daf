// What the log says of requests and errors: route patterns and codes, never query strings or values.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'

/** Logs no more of an error: those of Postgres carry row values and whole connections in further properties. */
export const errorSerializer = (error: Error) =>
  ({ type: error.name, message: error.message, code: Reflect.get(error, 'code'), stack: error.stack })

const serializers = {
  req: ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url }),
  res: ({ statusCode }: FastifyReply) => ({ statusCode }),
  err: errorSerializer
}

export const requestLogger = (logger: FastifyBaseLogger): FastifyBaseLogger => logger.child({}, { serializers })
