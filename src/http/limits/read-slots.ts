// How many reads of one user this process works on at once: others wait a moment, and then are refused.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

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
  const slots = { list: new ReadSlots(most.list, waitMs), item: new ReadSlots(most.item, waitMs) }
  const answers = new WeakMap<FastifyRequest, { begun: () => void }>()
  app.decorate('acquireReadSlot', async (kind, request, reply) => {
    const gone = untilGone(request, reply)
    const release = await slots[kind].acquire(request.user.id, gone)
    if (!release) throw new TooManyReads('Too many of your reads are being answered: try again in a moment.')
    // What a reader who is gone has asked for goes on until there is an answer.
    answers.set(request, { begun: () => { if (gone.aborted) release(); else gone.addEventListener('abort', release) } })
  })
  app.addHook('onSend', async (request) => { answers.get(request)?.begun() })
}

/** Aborted when the answer was sent or its reader is gone. */
function untilGone ({ raw: { socket } }: FastifyRequest, { raw: answer }: FastifyReply): AbortSignal {
  const over = new AbortController()
  const end = () => {
    answer.off('close', end)
    forget()
    over.abort()
  }
  answer.on('close', end)
  const forget = whenClosed(socket, end) // an answer that waits behind others on its connection is not told
  if (socket.destroyed) end()
  return over.signal
}

const onClose = new WeakMap<Socket, Set<() => void>>()

/** One listener for all requests of a connection: many may wait on one. @returns what forgets `act` */
function whenClosed (socket: Socket, act: () => void): () => void {
  const acts = onClose.get(socket) ?? new Set()
  if (!onClose.has(socket)) {
    onClose.set(socket, acts)
    socket.once('close', () => { for (const each of acts) each() })
  }
  acts.add(act)
  return () => { acts.delete(act) }
}

interface Places {
  busy: number
  /** Each takes over a slot. */
  waiting: Set<() => void>
}

export class ReadSlots {
  readonly #users = new Map<string, Places>()

  constructor (private readonly most: number, private readonly waitMs: number) {}

  /** How many users have a slot or wait for one. */
  get users (): number {
    return this.#users.size
  }

  /** How to release the slot, to be called once; nothing when none became free in time, or the reader is gone. */
  async acquire (user: string, gone: AbortSignal): Promise<(() => void) | undefined> {
    const places = this.#users.get(user) ?? { busy: 0, waiting: new Set() }
    this.#users.set(user, places)
    if (places.busy < this.most) places.busy++
    else if (!await this.#turn(places, gone)) return undefined
    return () => { this.#release(user, places) }
  }

  #turn ({ waiting }: Places, gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isMine: boolean) => {
        clearTimeout(patience)
        waiting.delete(take)
        gone.removeEventListener('abort', leave)
        resolve(isMine)
      }
      const take = () => { settle(true) }
      const leave = () => { settle(false) }
      const patience = setTimeout(leave, this.waitMs)
      waiting.add(take)
      gone.addEventListener('abort', leave)
      if (gone.aborted) leave()
    })
  }

  #release (user: string, places: Places): void {
    const [next] = places.waiting
    if (next) return next()
    if (--places.busy === 0) this.#users.delete(user)
  }
}
