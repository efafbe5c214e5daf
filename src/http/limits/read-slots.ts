// How many reads of one user this process works on at once: others wait a moment, and then are refused.
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Shares, type Release } from '../../commands/shares.js'
import { untilGone, whileAnswering } from './while-answering.js'

/** Lists and histories are large, exports take as long as their reader; everything else is one thing. */
export type ReadKind = 'list' | 'item' | 'export'

interface ReadSlotOptions {
  /** Of each kind, for one user. A list holds 1 MiB here, and several times that while it is made. */
  most?: Partial<Record<ReadKind, number>> | undefined
  /** How long a read waits for a slot, in milliseconds. */
  waitMs?: number | undefined
}

declare module 'fastify' {
  interface FastifyInstance {
    exportPlaces: ExportPlaces
    /** Waits for a slot; it is released when the answer was sent, or its reader is gone. @throws TooManyReads */
    acquireReadSlot (kind: ReadKind, request: FastifyRequest, reply: FastifyReply): Promise<void>
  }
}

/** The user has too many reads under way: a 429. */
export class TooManyReads extends Error {
  override readonly name = 'TooManyReads'
}

/** Of all users, read from Postgres at once: each has a connection. */
const mostExports = 6
/** Others only wait for Postgres, not for readers. */
const exportWaitMs = 20_000

/** Where exports are read from Postgres. Who waits for its reader gives its place up once another one wants it. */
export class ExportPlaces {
  readonly #places: Shares
  readonly #stalled = new Set<() => void>()
  #wanted = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor (most = mostExports, waitMs = exportWaitMs) {
    this.#places = new Shares(most, waitMs)
  }

  async acquire (gone: AbortSignal): Promise<Release | undefined> {
    if (this.#places.hasFree('')) return await this.#places.acquire('', gone)
    this.#wanted++
    const [longest] = this.#stalled
    longest?.()
    return await this.#places.acquire('', gone).finally(() => { this.#wanted-- })
  }

  /** To be awaited between two pieces: one of all exports is made in each turn of the event loop. */
  turn (): Promise<unknown> {
    return this.#turn = this.#turn.then(() => turnOfLoop())
  }

  /** A reader holds its export up: `giveUp` is called once another one wants the place. @returns ends that */
  stall (giveUp: () => void): () => void {
    if (this.#wanted > 0) giveUp()
    else this.#stalled.add(giveUp)
    return () => { this.#stalled.delete(giveUp) }
  }
}

const usual: Record<ReadKind, number> = { list: 3, item: 20, export: 2 }

export function registerReadSlots (app: FastifyInstance, options: ReadSlotOptions = {}): void {
  const { most, waitMs = 5_000 } = options
  const sharesOf = (kind: ReadKind) => new Shares(most?.[kind] ?? usual[kind], waitMs)
  const slots = { list: sharesOf('list'), item: sharesOf('item'), export: sharesOf('export') }
  app.decorate('exportPlaces', new ExportPlaces())
  const hold = whileAnswering(app)
  app.decorate('acquireReadSlot', async (kind, request, reply) => {
    const gone = untilGone(request, reply)
    const release = await slots[kind].acquire(request.user.id, gone)
    if (!release) throw new TooManyReads('Too many of your reads are being answered: try again in a moment.')
    hold(request, gone, release)
  })
}
