// A process that stops gives whole requests whole answers, and no client is waited for beyond the deadlines.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { buildStatusApp } from '../../src/http/bare-app.js'
import type { App } from '../../src/http/app-types.js'
import type { ClosingTimes } from '../../src/http/edge.js'
import { openMetrics } from '../../src/http/metrics.js'
import { openConnections } from '../support/http/open-connections.js'
import { configOf } from '../support/service.js'
import { tokensAlone } from './auth/tokens.js'
import type { Teardown } from '../support/teardown.js'

const large = Buffer.alloc(16 * 2 ** 20, 'x') // more than the buffers of two sockets hold

interface Times { closing?: ClosingTimes, idleMs?: number }

async function listening (t: Teardown, times: Times): Promise<{ app: App, url: string }> {
  const logger = pino({ level: 'silent' })
  const app = await buildStatusApp({
    logger,
    jwt: configOf({}).jwt,
    credentials: tokensAlone,
    rateLimit: { perMinute: 0 },
    healthChecks: {},
    metrics: openMetrics(logger),
    ...times
  })
  app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.get('/large', () => large)
  app.post('/body', () => 'ok')
  t.teardown(() => app.close())
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

t.test('all kinds of open connections end in time, with whole answers to whole requests', async (t) => {
  const { app, url } = await listening(t, { closing: { arriveWithinMs: 300, answerWithinMs: 20_000 } })
  const paths = { small: '/health/live', large: '/large', json: '/body', csv: '/body' }
  const connections = await openConnections(t, { url, token: 'none', ...paths })
  const closing = app.close()
  for (const { onStop } of connections) onStop()
  for (const { kind, ended } of connections) t.strictSame(await ended, { missing: 0, bytes: 0 }, kind)
  await closing
})

t.test('a client that does not read its answer loses it', async (t) => {
  const { app, url } = await listening(t, { closing: { arriveWithinMs: 50, answerWithinMs: 200 } })
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(client, 'data')
  client.pause()
  await app.close()
})

t.test('clients that do not read or finish a request are dropped; one that reads slowly meanwhile is not', async (t) => {
  const { app, url } = await listening(t, { idleMs: 1_000 })
  /** The server's end of a connection whose client says this, and then neither says nor reads anything. */
  const silentAfter = async (text: string): Promise<Socket> => {
    const arriving = once(app.server, 'connection')
    const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    t.teardown(() => client.destroy())
    client.pause().write(text)
    const [socket] = await arriving
    return socket
  }
  const answer = await fetch(`${url}/large`)
  const silent = [await silentAfter('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'), await silentAfter('GET /large HTTP/1.1\r\nHost: ')]
  let areDropped = false
  const dropping = Promise.all(silent.map((socket) => once(socket, 'close'))).then(() => { areDropped = true })
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    if (!areDropped) await Promise.race([dropping, delay(50)])
  }
  t.ok(areDropped, 'it read for longer than a client may be idle')
  t.equal(bytes, large.length)
})
