// Answers a command from the read model, as soon as that has seen the command's events.
import type { FastifyReply } from 'fastify'
import type { ReadPositions, Source } from './read-position.js'

/** What was written: where it is read, and what is answered while it cannot be read yet. */
export interface Written<Data> {
  source: Source
  read (): Promise<Data | undefined>
  /** From the events alone; the same as what is read. */
  folded (): Data
}

/**
 * What `read` finds once readers see the position. The command is valid without it: when they do not see the position
 * in time, or the read fails, the answer is `folded`, with `X-Read-Model: pending`. An answer that was given before is
 * `folded` as it was then, with the same header while reads are behind it.
 */
export async function readBack<Data> (
  { reached, waitMs }: ReadPositions, reply: FastifyReply,
  { position, isReplay }: { position: bigint, isReplay: boolean }, { source, read, folded }: Written<Data>
): Promise<Data> {
  const found = await reached(source, position, waitMs)
    .then((isThere) => !isThere ? undefined : isReplay ? folded() : read())
    .catch((error: unknown) => {
      reply.log.warn({ err: error }, 'the read model could not be read after a command')
      return undefined
    })
  if (found !== undefined) return found
  reply.header('x-read-model', 'pending')
  return folded()
}
