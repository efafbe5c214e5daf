// What the log says of requests and errors: route patterns and codes, never query strings or values.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'

const serializers = {
  req: ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url }),
  res: ({ statusCode }: FastifyReply) => ({ statusCode }),
  // Errors of Postgres carry row values in further properties.
  err: (error: Error) => ({ type: error.name, message: error.message, code: Reflect.get(error, 'code'), stack: error.stack })
}

export const requestLogger = (logger: FastifyBaseLogger): FastifyBaseLogger => logger.child({}, { serializers })
