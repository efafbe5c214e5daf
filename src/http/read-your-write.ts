// Answers a command from the read model, as soon as that has seen the command's events.
import type { FastifyReply } from 'fastify'
import type { Once } from '../command-handling/idempotency.js'

export interface ReadYourWrite {
  /** True as soon as readers see the projection at the position or later; false when the time is over first. */
  reached (projection: string, position: bigint, withinMs: number): Promise<boolean>
  /** How long an answer waits for the projection, in milliseconds. */
  waitMs: number
}

/**
 * What `find` reads once `projection` has passed the outcome's position; when it has not in time, or the read
 * fails, the command stands all the same and `folded` is answered, marked by `X-Read-Model: pending`. An answer that
 * was given before is `folded` as it was then, and marked just so while reads are behind it.
 */
export async function answerFrom<State, Answer> (
  { reached, waitMs }: ReadYourWrite, projection: string, { position, isReplay }: Once<State>, reply: FastifyReply,
  find: () => Promise<Answer | undefined>, folded: () => Answer
): Promise<Answer> {
  reply.header('x-read-position', String(position))
  const found = await reached(projection, position, waitMs)
    .then((isThere) => !isThere ? undefined : isReplay ? folded() : find())
    .catch((error: unknown) => {
      reply.log.warn({ err: error }, 'the read model could not be read after a command')
      return undefined
    })
  if (found !== undefined) return found
  reply.header('x-read-model', 'pending')
  return folded()
}
