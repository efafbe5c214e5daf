// Answers a command from the read model, as soon as that has seen the command's events.
import type { FastifyReply } from 'fastify'
import type { ReadPositions, Source } from './read-position.js'

/** What was written: where it is read, and what is answered without that. */
export interface Written<Data> {
  source: Source
  /** Absent where reads say nothing that is not folded. */
  read? (): Promise<Data | undefined>
  /** From the events of the stream. */
  folded (): Data
  /** The stream is all that rows say of it: what is folded is what would be read. */
  isAllInStream?: boolean
}

/**
 * What readers find once they see the position: `folded` where that is the same, and they lack no event; else what
 * `read` finds. The command is valid without it: when they do not see the position in time, or the read fails, the
 * answer is `folded`, with `X-Read-Model: pending`. An answer that was given before is `folded` as it was then, with
 * the same header while reads are behind it.
 */
export async function readBack<Data> (
  { reached, isWhole, waitMs }: ReadPositions, reply: FastifyReply,
  { position, isReplay }: { position: bigint, isReplay: boolean },
  { source, read, folded, isAllInStream = false }: Written<Data>
): Promise<Data> {
  const find = () => !read || isReplay || (isAllInStream && isWhole(source)) ? folded() : read()
  const found = await reached(source, position, waitMs)
    .then((isThere) => isThere ? find() : undefined)
    .catch((error: unknown) => {
      reply.log.warn({ err: error }, 'the read model could not be read after a command')
      return undefined
    })
  if (found !== undefined) return found
  reply.header('x-read-model', 'pending')
  return folded()
}
