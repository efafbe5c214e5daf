// The one place where what went wrong becomes an HTTP answer.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { BehindLog } from './recovery/database-state.js'
import { Rejection, type RejectionCode } from './domain/rejection.js'
import { AppendTooLarge, EventStoreUnavailable } from './event-store/errors.js'
import { StreamBusy } from './command-handling/handle-command.js'
import { KeyInFlight } from './command-handling/idempotency.js'
import { BehindPosition } from './http/read-position.js'
import { firstFields } from './http/docs/named-fields.js'
import { fieldErrors } from './http/schema-errors.js'
import { NotCaughtUp } from './command-handling/ids.js'

const statusOf: Record<RejectionCode, number> = {
  invalid: 422,
  'assistant-not-found': 404,
  'id-taken': 503,
  'not-found': 404,
  'revision-mismatch': 412,
  'call-differs': 409,
  'catalog-conflict': 409,
  'too-large': 413,
  'webhook-refused': 409
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a 500 of this route says; never a stack, a query or a host name. */
    failure?: string
  }
}

/** Answers every error as `{message}` or `{message, errors}`. */
export function answerError (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof Rejection) {
    return reply.code(statusOf[error.code]).send({ message: error.message, ...(error.errors && { errors: firstFields(error.errors) }) })
  }
  if (error instanceof KeyInFlight) return reply.code(409).header('retry-after', '1').send({ message: error.message })
  if (error instanceof AppendTooLarge) return reply.code(413).send({ message: 'The request is too large.' })
  if (error instanceof BehindPosition) return reply.code(503).header('retry-after', '1').send({ message: error.message })
  if ('validation' in error && error.validation) {
    return reply.code(422).send({ message: 'The given data was invalid.', errors: fieldErrors(error.validation, error.validationContext) })
  }
  if (nothingWasWritten(error)) {
    request.log.warn({ err: error }, error instanceof BehindLog ? 'no id is given out' : 'a back end is not available')
    return reply.code(503).header('retry-after', '1').send({ message: 'The service is not available right now. Nothing was changed.' })
  }
  const status = 'statusCode' in error ? error.statusCode ?? 500 : 500
  if (status === 401) return reply.code(401).send({ message: 'Unauthenticated.' })
  if (status < 500) return reply.code(status).send({ message: clientMessages['code' in error ? error.code : ''] ?? clientMessages[status] ?? error.message })
  request.log.error({ err: error }, 'request failed')
  return reply.code(500).send({ message: request.routeOptions.config.failure ?? 'Internal server error' })
}

/** By Fastify's code or by status, where its own words would not help. */
const clientMessages: Record<string | number, string> = {
  FST_ERR_BAD_URL: 'The address is not valid: a percent sign must begin the code of a character in UTF-8.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON, or has a key that is never accepted: __proto__, or constructor with a prototype.',
  413: 'The request is too large.',
  415: 'The request body must be JSON: send Content-Type: application/json.'
}

/**
 * Handlers follow up their own append, so an error of a back end that arrives here was met before it. Postgres and
 * its driver have no class for a lost connection: SQLSTATE classes 08, 53, 57, 25006 (a standby) and socket codes say it.
 */
function nothingWasWritten (error: Error): boolean {
  if (error instanceof EventStoreUnavailable || error instanceof StreamBusy || error instanceof NotCaughtUp || error instanceof BehindLog) return true
  const code = 'code' in error ? String(error.code) : ''
  return /^(08|53|57)[0-9A-Z]{3}$|^25006$|^E(CONN(REFUSED|RESET|ABORTED)|PIPE|NOTFOUND|AI_AGAIN|(HOST|NET)UNREACH|TIMEDOUT)$/.test(code) ||
    /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout)/.test(error.message)
}
