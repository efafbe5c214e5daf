// What a request holds until its answer was sent, or its sender is gone.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Holds something for a request, to be released once; `gone` is that of `untilGone`. */
export type Hold = (request: FastifyRequest, gone: AbortSignal, release: () => void) => void

/** What a sender who is gone has asked for goes on until there is an answer: so long it is held. */
export function whileAnswering (app: FastifyInstance): Hold {
  const answers = new WeakMap<FastifyRequest, () => void>()
  app.addHook('onSend', async (request) => { answers.get(request)?.() })
  return (request, gone, release) => {
    answers.set(request, () => { onceGone(gone, release) })
  }
}

/** Calls `act` at the abort of `gone`, or at once where that was before. */
export function onceGone (gone: AbortSignal, act: () => void): void {
  if (gone.aborted) act()
  else gone.addEventListener('abort', act)
}

/** Aborted when the answer was sent or its reader is gone. */
export function untilGone ({ raw: { socket } }: FastifyRequest, { raw: answer }: FastifyReply): AbortSignal {
  const over = new AbortController()
  const end = () => {
    answer.off('close', end)
    forget()
    over.abort(isOver)
  }
  answer.on('close', end)
  const forget = whenClosed(socket, end) // an answer that waits behind others on its connection is not told
  if (socket.destroyed) end()
  return over.signal
}

/** One for all: an error of its own for each request would be made with a trace of the stack. */
const isOver = new Error('the request was answered, or its sender is gone')

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
