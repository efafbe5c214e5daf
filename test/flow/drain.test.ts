// A process that is asked to stop is not ready first, goes on answering, and ends in time though a back end is silent.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { noRedis, scratchRedis } from '../support/back-ends/redis.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { eventually } from '../support/eventually.js'
import { apiProcess } from '../support/processes/api-process.js'
import { listeningUrl } from '../support/processes/role-log.js'
import { dataDir, ringledger, type Environment } from '../support/ringledger.js'
import { caller } from '../support/running-service.js'
import { secrets } from '../support/auth/secrets.js'
import { newAssistant, testService } from '../support/service.js'

/** The promise is 5 s; the machine of the tests has other work, too. */
const endsWithinMs = 6_000

const service = await testService(t, ['projector'])

async function ends (t: Test, process: ReturnType<typeof ringledger>, withinMs: number): Promise<void> {
  const askedAt = performance.now()
  process.signal('SIGTERM')
  const { code } = await process.ended
  const ms = Math.round(performance.now() - askedAt)
  t.equal(code, 0, process.stderr())
  t.ok(ms < withinMs, `it took ${ms} ms`)
}

t.test('it is not ready at once, and answers for so long, with the connection ended after each answer', async (t) => {
  const { process, call } = await apiProcess(t, service, { DRAIN_DELAY_MS: '2000' })
  t.equal((await call('GET', '/health/ready')).status, 200)
  const askedAt = performance.now()
  process.signal('SIGTERM')
  await process.says((stdout) => /Not ready any more; draining after 2 s/.exec(stdout)?.[0])
  const ready = await call('GET', '/health/ready')
  t.match({ status: ready.status, body: ready.body }, { status: 503, body: { message: /stopping/, status: 'draining' } })
  t.equal((await call('GET', '/health/live')).status, 200)
  const created = await call('POST', '/user/assistant', { body: newAssistant })
  t.equal(created.status, 201)
  t.equal(created.headers.get('connection'), 'close')
  t.equal((await process.ended).code, 0)
  t.ok(performance.now() - askedAt >= 2_000)
})

t.test('a second signal ends the wait, and nothing else', async (t) => {
  const { process } = await apiProcess(t, service, { DRAIN_DELAY_MS: '600000' })
  process.signal('SIGINT')
  await process.says((stdout) => /draining after 600 s/.exec(stdout)?.[0])
  process.signal('SIGINT')
  t.equal((await process.ended).code, 0)
  t.match(process.stdout(), /Draining after SIGINT .*"msg":"Stopped\."}\n$/s)
})

t.test('a request on a connection of before is answered while the process closes', async (t) => {
  const { process } = await apiProcess(t, service)
  const port = Number(new URL(listeningUrl(process.stdout()) ?? '').port)
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /user/nothing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{')
  await eventually(() => socket.readyState === 'open')
  await caller(`http://127.0.0.1:${port}`)('GET', '/health/live') // so the request before has arrived
  process.signal('SIGTERM')
  await process.says((stdout) => stdout.includes('Draining after') || undefined)
  socket.write('}GET /user/nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
  const answer = await text(socket)
  t.match(answer, /"message"/)
  t.notMatch(answer, /"statusCode"/)
  t.equal((await process.ended).code, 0)
})

for (const [how, silence] of [['frozen', 'freeze'], ['gone', 'close']] as const) {
  t.test(`with Postgres ${how} every role ends within five seconds`, async (t) => {
    const url = new URL(service.urls.databaseUrl)
    const proxy = await tcpProxy(t, Number(url.port))
    const env = { ...common(), DATABASE_URL: Object.assign(url, { port: String(proxy.port) }).href }
    const roles = await Promise.all(['api', 'projector', 'worker'].map((role) => started(t, role, env)))
    await proxy[silence]()
    await Promise.all(roles.map((process) => ends(t, process, endsWithinMs)))
  })

  t.test(`with Redis ${how} a worker is not ready, and ends within five seconds`, { skip: noRedis() }, async (t) => {
    const url = new URL((await scratchRedis(t)).url)
    const proxy = await tcpProxy(t, Number(url.port))
    const env = { ...common(), REDIS_URL: Object.assign(url, { port: String(proxy.port) }).href }
    const worker = await started(t, 'worker', env)
    const call = caller(listeningUrl(worker.stdout()) ?? '')
    await eventually(async () => (await call('GET', '/health/ready')).status === 200)
    await proxy[silence]()
    await eventually(async () => (await call('GET', '/health/ready')).status === 503, 5_000)
    await ends(t, worker, endsWithinMs)
  })
}

function common (): Environment {
  return {
    ...secrets,
    DATABASE_URL: service.urls.databaseUrl,
    EVENTSTORE_URL: service.urls.eventStoreUrl,
    DATA_DIR: dataDir(t),
    PORT: '0',
    LOG_LEVEL: 'silent'
  }
}

async function started (t: Test, role: string, env: Environment) {
  const process = ringledger(t, [role], env)
  await process.says(listeningUrl)
  return process
}
