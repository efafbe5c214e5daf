// Two API processes are restarted one after the other, under load of clients that a balancer leads: no request fails.
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { type ApiProcess, apiProcess, newAssistant, testService } from '../../support/service.js'
import { listeningUrl } from '../../support/ringledger.js'

const restarts = 5
t.setTimeout(60_000 + restarts * 60_000)

const service = await testService(t, ['api', 'projector'])
const authorization = `Bearer ${await service.token('1')}`

/** Those that are probed ten times a second, and whether they are ready: these get new connections, by turns. */
const backEnds = new Map<string, boolean>()
const ready = () => [...backEnds].flatMap(([url, isReady]) => isReady ? [url] : [])
let turn = 0
const next = () => eventually(() => ready()[turn++ % ready().length] ?? false)
const probing = setInterval(() => {
  for (const url of backEnds.keys()) {
    void request(`${url}/health/ready`, { headersTimeout: 5_000, reset: true })
      .then(async ({ statusCode, body }) => {
        await body.dump()
        return statusCode === 200
      })
      .catch(() => false)
      .then((isReady) => { if (backEnds.has(url)) backEnds.set(url, isReady) })
  }
}, 100)
t.teardown(() => clearInterval(probing))

async function added (): Promise<ApiProcess & { url: string }> {
  const api = await apiProcess(t, service, { DRAIN_DELAY_MS: '1000' })
  const url = listeningUrl(api.process.stdout()) ?? ''
  backEnds.set(url, false)
  await eventually(() => backEnds.get(url) === true)
  return { ...api, url }
}

const stopping = new AbortController()
const seen = { failures: [] as string[], answered: 0 }

/** Sends one request after the other, reads and writes by turns; it leaves a kept connection that is to end. */
async function client (reset: boolean): Promise<void> {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  let url = await next()
  for (let n = 0; !stopping.signal.aborted; n++, await delay(15)) {
    const [method, path] = n % 2 === 0 ? ['GET', '/user/assistants'] as const : ['POST', '/user/assistant'] as const
    const headers = { authorization, 'content-type': 'application/json' }
    try {
      const { statusCode, body, headers: answered } = await request(`${url}${path}`, {
        dispatcher, method, reset, headers, ...(method === 'POST' && { body: JSON.stringify(newAssistant) })
      })
      const text = await body.text()
      if (statusCode >= 300) seen.failures.push(`${method} ${statusCode} ${text}`)
      seen.answered++
      if (reset || answered.connection === 'close') url = await next()
    } catch (error) {
      seen.failures.push(`${method} ${String(error)}`)
    }
  }
  await dispatcher.close()
}

t.test(`${restarts} restarts of each, with kept and with new connections, and every request is answered`, async (t) => {
  const apis = [await added(), await added()]
  const clients = Array.from({ length: 10 }, (_, n) => client(n < 4))
  for (let n = 0; n < restarts; n++) {
    for (const old of apis.splice(0)) {
      old.process.signal('SIGTERM')
      const starting = added()
      t.equal((await old.process.ended).code, 0, old.process.stderr())
      backEnds.delete(old.url)
      apis.push(await starting)
    }
  }
  stopping.abort()
  await Promise.all(clients)
  t.strictSame(seen.failures, [])
  t.ok(seen.answered > 40 * restarts, `${seen.answered} answers`)
})
