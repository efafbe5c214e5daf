// Two API processes behind a balancer are restarted one after the other, under load: no request fails.
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.js'
import { type ApiProcess, apiProcess, type TestService, newAssistant, testService } from '../../support/service.js'
import { listeningUrl } from '../../support/ringledger.js'
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import type { Teardown } from '../../support/teardown.js'

// A TCP balancer on this machine: it leads new connections to processes that say they are ready, one after the other.
const probeEveryMs = 100
const probeWithinMs = 1_000

interface Balancer {
  url: string
  /** Ports of those that get new connections. */
  ready (): number[]
  /** From now on this process is probed, too. */
  add (port: number): void
  remove (port: number): void
}

/** Probes `/health/ready` ten times a second. Closed in `t.teardown`. */
async function balancer (t: Teardown): Promise<Balancer> {
  const backEnds = new Map<number, boolean>()
  const sockets = new Set<Socket>()
  let turn = 0
  const ready = () => [...backEnds].flatMap(([port, isReady]) => isReady ? [port] : [])
  const server = createServer((client) => {
    const ports = ready()
    const upstream = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1')
    for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(socket.setNoDelay(true))
      socket.on('error', () => { other.destroy() }).on('close', () => {
        sockets.delete(socket)
        other.end()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const probe = setInterval(() => {
    for (const port of backEnds.keys()) {
      void isReady(port).then((is) => { if (backEnds.has(port)) backEnds.set(port, is) })
    }
  }, probeEveryMs)
  t.teardown(async () => {
    clearInterval(probe)
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready,
    add: (port) => { backEnds.set(port, false) },
    remove: (port) => { backEnds.delete(port) }
  }
}

async function isReady (port: number): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/health/ready`, {
      headersTimeout: probeWithinMs, reset: true
    })
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}

const restarts = 10
const drainDelayMs = 1_000
t.setTimeout(60_000 + restarts * 60_000)

interface Load { failures: string[], answered: number, stop (): Promise<void> }

const service = await testService(t, ['api', 'projector'])
const authorization = `Bearer ${await service.token('1')}`

/** Enough for many requests under way at each moment of a restart; without a pause they would only take its time. */
const pauseMs = 15

/** Each client sends one request after the other, reads and writes by turns. */
function load (url: string, clients: number, agent: () => Agent): Load {
  const load: Load = { failures: [], answered: 0, stop }
  const stopping = new AbortController()
  const running = Array.from({ length: clients }, async () => {
    const dispatcher = agent()
    for (let n = 0; !stopping.signal.aborted; n++, await delay(pauseMs)) await ask(n, dispatcher)
    await dispatcher.close()
  })
  return load

  async function ask (n: number, dispatcher: Agent): Promise<void> {
    const [method, path] = n % 2 === 0 ? ['GET', '/user/assistants'] as const : ['POST', '/user/assistant'] as const
    try {
      const { statusCode, body } = await request(`${url}${path}`, {
        dispatcher,
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify(newAssistant) })
      })
      const text = await body.text()
      if (statusCode >= 300) load.failures.push(`${method} ${statusCode} ${text}`)
      load.answered++
    } catch (error) {
      load.failures.push(`${method} ${String(error)}`)
    }
  }

  async function stop (): Promise<void> {
    stopping.abort()
    await Promise.all(running)
  }
}

async function added (t: Test, front: Balancer, to: TestService): Promise<ApiProcess & { port: number }> {
  const api = await apiProcess(t, to, { DRAIN_DELAY_MS: String(drainDelayMs) })
  const port = Number(new URL(listeningUrl(api.process.stdout()) ?? '').port)
  front.add(port)
  await eventually(() => front.ready().includes(port))
  return { ...api, port }
}

t.test(`${restarts} restarts of each, with kept and with new connections, and every request is answered`, async (t) => {
  const front = await balancer(t)
  const apis = [await added(t, front, service), await added(t, front, service)]
  const loads = [
    load(front.url, 6, () => new Agent({ connections: 1, pipelining: 1 })),
    load(front.url, 4, () => new Agent({ connections: 1, pipelining: 0 }))
  ]
  for (let n = 0; n < restarts; n++) {
    for (const old of apis.splice(0)) {
      old.process.signal('SIGTERM')
      const next = added(t, front, service)
      const { code } = await old.process.ended
      t.equal(code, 0, old.process.stderr())
      front.remove(old.port)
      apis.push(await next)
    }
  }
  await Promise.all(loads.map(({ stop }) => stop()))
  for (const { failures, answered } of loads) {
    t.strictSame(failures, [])
    t.ok(answered > 20 * restarts, `${answered} answers`)
  }
})
