// A client that neither reads nor writes loses its connection, and with it the answer that was kept for it.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { buildStatusApp } from '../../../src/http/bare-app.js'
import { openMetrics } from '../../../src/http/metrics.js'
import { configOf } from '../../support/service.js'

const logger = pino({ level: 'silent' })
const app = await buildStatusApp({
  logger,
  jwt: configOf({}).jwt,
  rateLimit: { perMinute: 0 },
  healthChecks: {},
  metrics: openMetrics(logger),
  idleMs: 1_000
})
const large = Buffer.alloc(32 * 2 ** 20, 'x') // more than the buffers of two sockets hold
app.get('/large', () => large)
t.teardown(() => app.close())
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
const port = typeof address === 'object' ? address?.port ?? 0 : 0

/** The server's end of a connection whose client says this, and then neither says nor reads anything. */
async function silentAfter (text: string): Promise<Socket> {
  const arriving = once(app.server, 'connection')
  const client = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  client.pause().write(text)
  const [socket] = await arriving
  return socket
}

t.test('clients that do not read or finish a request are dropped; one that reads slowly meanwhile is not', async (t) => {
  const answer = await fetch(`http://127.0.0.1:${port}/large`)
  const silent = [await silentAfter('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'), await silentAfter('GET /large HTTP/1.1\r\nHost: ')]
  let areDropped = false
  const dropping = Promise.all(silent.map((socket) => once(socket, 'close'))).then(() => { areDropped = true })
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    if (!areDropped) await Promise.race([dropping, delay(10)])
  }
  t.ok(areDropped, 'it read for longer than a client may be idle')
  t.equal(bytes, large.length)
})
