// Connections are kept, as long as they are not too many. A request on one that the receiver has closed is sent again;
// nothing else is sent twice.
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Agent, buildConnector, request, type Dispatcher } from 'undici'
import type { Result } from '../../../src/features/webhooks/outcome.js'
import { hurriedMs, keptMs, openConnections } from '../../../workers/deliver/connections.js'
import { openPoster, type Poster } from '../../../workers/deliver/post.js'
import { rawServer } from './servers.js'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

function poster (t: Test): Poster {
  const opened = openPoster({ allowCidrs: ['127.0.0.0/8'] })
  t.teardown(() => opened.close())
  return opened
}

/** Its connection is free for the next request when this is told. */
async function send (by: Poster, url: string): Promise<Result> {
  const result = await by.post({
    url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000, signal: new AbortController().signal
  })
  await turn()
  return result
}

const endings: Record<string, (socket: Socket) => void> = {
  'ends it': (socket) => socket.end(),
  'resets it': (socket) => socket.resetAndDestroy()
}
for (const [name, close] of Object.entries(endings)) {
  t.test(`a receiver that ${name} as we use it again gets the request on a new connection`, async (t) => {
    const requests: number[] = []
    const server = await rawServer(t, (socket, count) => {
      socket.on('data', () => {
        requests.push(count)
        if (requests.length === 2) close(socket)
        else socket.write(ok)
      })
    })
    const by = poster(t)
    t.match(await send(by, server.url), { status: 200 })
    t.match(await send(by, server.url), { status: 200 })
    t.same(requests, [1, 1, 2], 'by connection')
  })

  t.test(`on a new connection, a receiver that ${name} without an answer gets the request once`, async (t) => {
    const server = await rawServer(t, (socket) => socket.on('data', () => close(socket)))
    t.match(await send(poster(t), server.url), { kind: 'failure', stage: 'connection' })
    t.equal(server.connections(), 1)
  })

  t.test(`a receiver that ${name} in the middle of its answer does not get the request again`, async (t) => {
    const requests: number[] = []
    const server = await rawServer(t, (socket, count) => {
      socket.on('data', () => {
        requests.push(count)
        if (requests.length === 1) socket.write(ok)
        else socket.write('HTTP/1.1 ', () => setTimeout(close, 20, socket))
      })
    })
    const by = poster(t)
    t.match(await send(by, server.url), { status: 200 })
    t.match(await send(by, server.url), { kind: 'failure', stage: 'connection' })
    t.same(requests, [1, 1])
  })
}

t.test('a connection is kept for a minute, and for seconds only while too many are open', async (t) => {
  const { url, connections } = await rawServer(t, (socket) => { socket.on('data', () => socket.write(ok)) })
  const keeps = new Map<Dispatcher, number>()
  const agents = openConnections(buildConnector({}), (connect, keepAliveTimeout) => {
    const agent = new Agent({ connect, keepAliveTimeout })
    keeps.set(agent, keepAliveTimeout)
    return agent
  }, 1)
  t.teardown(() => agents.close())
  const send = async () => {
    const dispatcher = agents.next()
    const { body } = await request(url, { dispatcher })
    await body.dump()
    await turn() // then its connection is free for the next one
    return keeps.get(dispatcher)
  }
  t.equal(await send(), keptMs)
  t.equal(await send(), hurriedMs, 'one is open')
  t.equal(connections(), 2)
})
