// One line in the log for each request: what was asked by its route pattern, who asked, what came of it.
import { createHash } from 'node:crypto'
import { LogController, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Refusal } from './auth/refusal.js'

interface Note {
  /** Stands for the user; see `userHash`. Of a refused token, the one that it names. */
  user?: string | undefined
  role?: string
  /** The id of the API key that came instead of a token. */
  api_key?: number
  /** Id of its trace, where it is traced. */
  trace?: string
  /** Why the token or key was refused. */
  refused?: Refusal
}

const notes = new WeakMap<FastifyRequest, Note>()

/** Adds to the line of this request. */
export function note (request: FastifyRequest, more: Note): void {
  notes.set(request, { ...notes.get(request), ...more })
}

/** Tells users apart in the log, where ids may be e-mail addresses: the first 16 digits of their SHA-256. */
export const userHash = (userId: string) => createHash('sha256').update(userId).digest('hex').slice(0, 16)

/** Never a path, a query string or a value: they hold ids, phone numbers and secrets. */
export class RequestLog extends LogController {
  override incomingRequest (): void {} // the line at the end says it all

  override requestCompleted (error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...notes.get(request)
    }
    if (error) request.log.error({ ...line, err: error }, 'request')
    else request.log.info(line, 'request')
  }
}
