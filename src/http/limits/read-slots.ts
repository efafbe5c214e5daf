// How many reads of one user this process works on at once: others wait a moment, and then are refused.
import type { FastifyInstance } from 'fastify'
import { Shares } from '../../command-handling/turns/shares.js'
import { untilGone, whileAnswering } from './while-answering.js'

/** Lists and histories are large; everything else is one thing. */
export type ReadKind = 'list' | 'item'

export interface ReadSlotOptions {
  /** Of each kind, for one user. A list holds 1 MiB here, and several times that while it is made. */
  most?: Record<ReadKind, number> | undefined
  /** How long a read waits for a slot, in milliseconds. */
  waitMs?: number | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Waits for a slot; it is released when the answer was sent, or its reader is gone. @throws TooManyReads */
    acquireReadSlot (kind: ReadKind, request: FastifyRequest, reply: FastifyReply): Promise<void>
  }
}

/** The user has too many reads under way: a 429. */
export class TooManyReads extends Error {
  override readonly name = 'TooManyReads'
}

export function registerReadSlots (app: FastifyInstance, options: ReadSlotOptions = {}): void {
  const { most = { list: 3, item: 20 }, waitMs = 5_000 } = options
  const slots = { list: new Shares(most.list, waitMs), item: new Shares(most.item, waitMs) }
  const hold = whileAnswering(app)
  app.decorate('acquireReadSlot', async (kind, request, reply) => {
    const gone = untilGone(request, reply)
    const release = await slots[kind].acquire(request.user.id, gone)
    if (!release) throw new TooManyReads('Too many of your reads are being answered: try again in a moment.')
    hold(request, gone, release)
  })
}
