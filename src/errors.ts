// Turns errors into HTTP answers; nothing else does.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CommitOutcomeUnknown, KeyInFlight } from './commands/idempotency.js'
import { IdsUsedUp, NotCaughtUp } from './commands/ids.js'
import { StreamBusy } from './commands/handle.js'
import { NotKnownYet } from '../projections/engine/positions.js'
import { Rejection, type RejectionCode } from './domain/rejection.js'
import { AppendTooLarge, EventStoreUnavailable, isOfOutage, OtherLog, StreamGone, StreamTruncated } from './log/errors.js'
import { encodedBody } from './http/bodies.js'
import { fieldErrors, firstFields } from './http/field-errors.js'
import { BehindPosition } from './http/read-position.js'
import { TooManyBodies, TooManyReads } from './http/limits.js'
import { saysDiskFull } from './postgres/problems.js'
import { BehindLog } from './recovery/markers.js'
import { PersonKeyUnreadable } from './privacy/person-keys.js'

const statusOf: Record<RejectionCode, number> = {
  invalid: 422,
  'assistant-not-found': 404,
  'id-taken': 503,
  'not-found': 404,
  'revision-mismatch': 412,
  'call-differs': 409,
  'catalog-conflict': 409,
  'too-large': 413,
  'webhook-refused': 409,
  'not-ready': 409,
  gone: 410,
  'too-many': 429
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
    const errors = error.errors && { errors: firstFields(error.errors) }
    if (error.code === 'too-many') reply.header('retry-after', '10') // long work takes seconds at least
    return reply.code(statusOf[error.code]).send({ message: error.message, ...errors })
  }
  if (error instanceof KeyInFlight) return later(reply, 409, error.message)
  if (error instanceof StreamGone) return reply.code(410).send({ message: 'It was deleted for good.' })
  if (error instanceof AppendTooLarge) return reply.code(413).send({ message: 'The request is too large.' })
  if (error instanceof TooManyReads || error instanceof TooManyBodies) return later(reply, 429, error.message)
  if (error instanceof BehindPosition) return later(reply, 503, error.message)
  if ('validation' in error && error.validation) {
    const errors = fieldErrors(error.validation, error.validationContext)
    return reply.code(422).send({ message: 'The given data was invalid.', errors })
  }
  if (hungUp(request, error)) return reply.code(400).send({ message: 'The body did not arrive whole.' }) // unread
  if (nothingWasWritten(error)) {
    if (saysDiskFull(error)) request.log.error({ err: error }, 'a disk is full')
    else logFailure(request, error, error instanceof BehindLog ? 'no id is given out' : 'a back end is not available')
    return later(reply, 503, 'The service is not available right now. Nothing was changed.')
  }
  const status = 'statusCode' in error ? error.statusCode ?? 500 : 500
  if (status === 401) return reply.code(401).send({ message: 'Unauthenticated.' })
  if (status < 500) {
    const code = 'code' in error ? error.code : ''
    const { takesCsv } = request.routeOptions.config
    const known = clientMessages[code] ?? (takesCsv && status === 415 ? neitherJsonNorCsv : clientMessages[status])
    return reply.code(status).send({ message: known ?? error.message })
  }
  if (isOfOutage(error) || error instanceof CommitOutcomeUnknown) logFailure(request, error, 'request failed')
  else request.log.error({ err: error }, 'request failed')
  return reply.code(500).send({ message: request.routeOptions.config.failure ?? 'Internal server error' })
}

/** The client's connection broke within its body, so the error is not a back end's. */
const hungUp = ({ raw }: FastifyRequest, error: Error) => raw.readableAborted && 'code' in error &&
  (error.code === 'ECONNRESET' || error.code === 'ERR_STREAM_PREMATURE_CLOSE')

function logFailure (request: FastifyRequest, error: Error, message: string): void {
  request.log[isOfOutage(error) ? 'debug' : 'warn']({ err: error }, message)
}

function later (reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).header('retry-after', '1').send({ message })
}

/** Our messages, by Fastify's code or by status, where Fastify's own would not help. */
const clientMessages: Record<string | number, string> = {
  FST_ERR_BAD_URL: 'The address is not valid: a percent sign must begin the code of a character in UTF-8.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON, or has a key that is never accepted: __proto__, or constructor with a prototype.',
  [encodedBody]: 'The request body must not be compressed: send it without Content-Encoding.',
  413: 'The request is too large.',
  415: 'The request body must be JSON: send Content-Type: application/json.'
}

const neitherJsonNorCsv = 'The request body must be JSON or CSV, both in UTF-8 (CSV also in UTF-16): send ' +
  'Content-Type: application/json, or text/csv.'

/**
 * Handlers find out themselves whether their append or their transaction was written. So an error of a back end that
 * arrives here came before that.
 */
function nothingWasWritten (error: Error): boolean {
  const ours = [
    EventStoreUnavailable, StreamTruncated, StreamBusy, NotCaughtUp, IdsUsedUp, NotKnownYet, BehindLog, OtherLog,
    PersonKeyUnreadable
  ]
  const isOurs = ours.some((each) => error instanceof each)
  const code = 'code' in error ? String(error.code) : ''
  return isOurs || lostStates.test(code) || lostSockets.test(code) || lostWords.test(error.message)
}

// Postgres and its driver have no class for a lost connection: SQLSTATE, codes of sockets and words of the driver tell.
// Class 08 is the connection, 28 the login, 40 a transaction that gave way to another one, 53 and 58 the machine, 57 an
// operator or a time limit. 25006 is a standby, 25P03 and 25P04 are limits of transactions and 55P03 one of a lock,
// 3D000 is no database, 42501 no right. 42P01 and 42703 are a table and a column that a replay has yet to make for this
// release.
const lostStates = /^(08|28|40|53|57|58)[0-9A-Z]{3}$|^(25(006|P0[34])|55P03|3D000|42(501|P01|703))$/
const lostSockets = /^E(CONN(REFUSED|RESET|ABORTED)|PIPE|NOTFOUND|AI_AGAIN|(HOST|NET)UNREACH|TIMEDOUT)$|^ERR_STREAM_DESTROYED$/
const lostWords = new RegExp([
  '^Connection terminated', '^timeout exceeded when trying to connect', '^Query read timeout',
  '^Client (has encountered a connection error|was closed) and is not queryable',
  '^Cannot use a pool after calling end', '^The server does not support SSL', '^There was an error establishing an SSL'
].join('|'))
