// A service behind proxies: back ends that refuse, hang, lose answers and come back.
import type { Test } from 'tap'
import type { Role } from '../../src/services/services.js'
import { startRoles } from '../../src/services/roles.js'
import { eventually } from './eventually.js'
import { readLog } from './run/leaks.js'
import { caller, type Call } from './running-service.js'
import type { TestService } from './service.js'
import { tcpProxy } from './back-ends/tcp-proxy.js'
import type { Teardown } from './teardown.js'
import type { Answer } from './http/answer.js'

/** Runs roles on the back ends of `direct`, through proxies of their own. */
export async function behindProxies (
  t: Teardown, direct: TestService, roles: Role[] = ['api']
) {
  const postgres = await tcpProxy(t, Number(new URL(direct.urls.databaseUrl).port))
  const store = await tcpProxy(t, direct.store.port)
  const databaseUrl = Object.assign(new URL(direct.urls.databaseUrl), { port: String(postgres.port) }).href
  const eventStoreUrl = `esdb://127.0.0.1:${store.port}?tls=false`
  const { url, stop } = await startRoles(roles, direct.config, { databaseUrl, eventStoreUrl }, readLog(t))
  t.teardown(stop)
  const token = await direct.token('1')
  const call = caller(url)
  const asUser1: Call = (method, path, request) => call(method, path, { token, ...request })
  return { call: asUser1, store, postgres }
}

/** The answer, and how long it took in milliseconds. */
export async function timed (answering: Promise<Answer>): Promise<Answer & { ms: number }> {
  const beganAt = performance.now()
  const answer = await answering
  return { ...answer, ms: Math.round(performance.now() - beganAt) }
}

/** The time until an answer has this status and does not wait for the read model, in milliseconds. */
export async function backAfter (ask: () => Promise<Answer>, status: number): Promise<number> {
  const beganAt = performance.now()
  await eventually(async () => {
    const answer = await ask()
    return answer.status === status && !answer.headers.has('x-read-model')
  })
  return Math.round(performance.now() - beganAt)
}

/** Who is refused a connection does not wait for an answer until the deadline of 5 s, also beside other work. */
export const soonMs = 4_500

/** Each is answered in time that nothing was changed, and when to try again. */
export async function saysAway (t: Test, answers: Array<Promise<Answer>>, withinMs: number): Promise<void> {
  for (const { status, headers, body, ms } of await Promise.all(answers.map(timed))) {
    t.equal(status, 503)
    t.match(headers.get('retry-after'), /^[1-9]\d*$/)
    t.strictSame(body, { message: 'The service is not available right now. Nothing was changed.' })
    t.ok(ms < withinMs, `after ${ms} ms`)
  }
}
