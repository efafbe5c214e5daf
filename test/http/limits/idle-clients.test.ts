// A client that neither reads nor writes loses its connection, and with it the answer that was kept for it.
import { once } from 'node:events'
import { connect } from 'node:net'
import pino from 'pino'
import t from 'tap'
import { buildStatusApp } from '../../../src/app.js'
import { openMetrics } from '../../../src/http/metrics.js'
import { configOf } from '../../support/service.js'

const logger = pino({ level: 'silent' })
const app = await buildStatusApp({
  logger,
  jwt: configOf({}).jwt,
  rateLimit: { perMinute: 0 },
  healthChecks: {},
  metrics: openMetrics(logger),
  idleMs: 300
})
const large = Buffer.alloc(32 * 2 ** 20, 'x') // more than the buffers of two sockets hold
app.get('/large', () => large)
t.teardown(() => app.close())
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
const port = typeof address === 'object' ? address?.port ?? 0 : 0

/** Resolves when the server has closed the connection that says this and then nothing more. */
async function closed (text: string): Promise<void> {
  const arriving = once(app.server, 'connection')
  const client = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  client.pause().write(text)
  const [socket] = await arriving
  await once(socket, 'close')
}

t.test('a client that does not read its answer is dropped', async () => {
  await closed('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
})

t.test('a client that does not finish its request is dropped', async () => {
  await closed('GET /large HTTP/1.1\r\nHost: ')
})

t.test('a client that reads is not', async (t) => {
  const answer = await fetch(`http://127.0.0.1:${port}/large`)
  let bytes = 0
  for await (const part of answer.body ?? []) bytes += part.length
  t.equal(bytes, large.length)
})
