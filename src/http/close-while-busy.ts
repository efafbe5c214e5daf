// Connections that clients keep open end with an answer, once the process is to stop.
import type { App } from './app-types.js'

/**
 * Without this, close() waits for clients that keep their connection open (fastify issue 7044). Those of a process that
 * is leaving connect again, to another one, before this one stops to listen.
 */
export function closeWhileBusy (app: App, isLeaving = () => false): void {
  let isClosing = false
  app.addHook('preClose', async () => { isClosing = true })
  app.addHook('onSend', async (_request, reply) => { if (isClosing || isLeaving()) reply.header('connection', 'close') })
}
