// `start` as an operator meets it: one at a time, joined by other commands, and gone without a trace after its stop.
import { once } from 'node:events'
import { createServer as createHttpServer, request, type IncomingMessage } from 'node:http'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projections as known } from '../../projections/index.js'
import { callReport, newAssistant } from '../support/bodies/bodies.js'
import { dataDir, runWarm, startedDataDir } from '../support/ringledger.js'
import { databaseUrlOf, startService, type RunningService, untilReady } from '../support/running-service.js'
import { doctor } from './doctor/doctor.js'

/** Resolves when the service waits for the body. @returns what sends the body and resolves to the answer */
async function begunPost (url: string, token: string): Promise<(body: object) => Promise<IncomingMessage>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' }
  const asking = request(url, { method: 'POST', headers })
  asking.flushHeaders()
  await once(asking, 'continue')
  return async (body) => {
    asking.end(JSON.stringify(body))
    const [answer] = await once(asking, 'response') as [IncomingMessage]
    answer.resume()
    return answer
  }
}

/** Takes traces. @returns its URL, and service and name of each span that came */
async function collector () {
  const spans: string[] = []
  const server = createHttpServer((request, response) => {
    let text = ''
    request.on('data', (part) => { text += part }).on('end', () => {
      for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
        const [service] = resource.attributes.filter(({ key }: { key: string }) => key === 'service.name')
        for (const { spans: came } of scopeSpans) spans.push(...came.map(({ name }: { name: string }) => `${service.value.stringValue}: ${name}`))
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans }
}

const folder = await startedDataDir(t)
const traces = await collector()
/** Gives a warning of Node when it is signalled. */
const warns = "data:text/javascript,process.once('SIGWINCH',()=>process.emitWarning('careful'))"
const env = {
  PORRT: '1',
  LOG_LEVEL: 'debug',
  DRAIN_DELAY_MS: '600000',
  NODE_OPTIONS: `--import=${warns}`,
  OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
  OTEL_SERVICE_NAME: 'calls'
}

interface Line { level: number, time: number, msg: string, [fact: string]: unknown }

const beside = (...args: string[]) => runWarm(args, { DATA_DIR: folder })

/** What holds beside a running start, in this order: the last one ends it. */
const rules: Record<string, (t: Test, service: RunningService) => Promise<void>> = {
  'a second start on its DATA_DIR is refused, by name': async (t, service) => {
    const { code, stderr } = await runWarm(['start'], { DATA_DIR: folder, PORT: '0' })
    t.equal(code, 1)
    t.match(stderr, `DATA_DIR ${folder} is in use by \`ringledger start\` (pid ${service.process.pid}`)
    await untilReady(service.url) // the first is none the worse
  },

  'files with secrets are for their owner only': async (t) => {
    for (const file of ['secrets.json', 'run.json']) t.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  },

  'projections list joins it': async (t, service) => {
    const { code, stdout, stderr } = await beside('projections', 'list', '--json')
    t.equal(code, 0, stderr)
    const projections: Array<Record<string, string>> = JSON.parse(stdout)
    t.same(
      projections.map(({ projection, generation, state }) => `${projection} ${generation} ${state}`),
      known.map(({ name }) => `${name} 1 active`)
    )
    for (const { owner } of projections) t.match(owner, new RegExp(` ${service.process.pid} `))
  },

  'token makes tokens that it takes': async (t, service) => {
    const { stdout } = await beside('token', '--user', '1')
    t.equal((await service.call('POST', '/user/assistant', { token: stdout.trim(), body: newAssistant() })).status, 201)
    const engine = (await beside('token', '--user', 'pbx', '--role', 'engine', '--ttl', '5m')).stdout.trim()
    const reported = await service.call('POST', '/engine/calls/c1/completed', { token: engine, body: callReport(1) })
    t.equal(reported.status, 202)
  },

  'the doctor finds all well and prints no secret; reseal leaves the former key': async (t) => {
    const { code, stdout, findings, find } = await doctor(t, { DATA_DIR: folder })
    t.equal(code, 0)
    t.same(findings.filter(({ level, check }) => level !== 'ok' && check !== 'Node' && check !== 'unaccounted calls'), [])
    t.match(find('Postgres', 'LISTEN'), { found: /direct/ })
    t.match(find('Event store', 'members'), { found: /leader/ })
    t.match(find('DATA_DIR', 'used by'), { found: /`ringledger start`/ })
    const kept: { secretKey: string } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))
    const hidden = [...Object.values(kept), new URL(databaseUrlOf(folder)).password]
    for (const secret of hidden) t.notOk(stdout.includes(secret))
    const SECRET_KEY = 'the key that follows on the one in the file'
    const rotated = { DATA_DIR: folder, SECRET_KEY, SECRET_KEY_PREVIOUS: kept.secretKey }
    t.match(await runWarm(['secrets', 'reseal'], rotated), { code: 0, stderr: /secrets\.json has SECRET_KEY instead/ })
    t.strictSame(JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')), { ...kept, secretKey: SECRET_KEY })
    t.same(readdirSync(folder).filter((name) => name.endsWith('.tmp')), [], 'no draft is left')
  },

  'SIGTERM makes it not ready, a second one drains it: it answers what was begun, and leaves no process': async (t, service) => {
    const token = await service.token('1')
    const answer = await begunPost(`${service.url}/user/assistant`, token)
    process.kill(service.process.pid, 'SIGWINCH')
    await service.process.says((stdout) => stdout.includes('careful') || undefined)
    service.process.signal('SIGTERM')
    await service.process.says((stdout) => /Not ready any more; draining after 600 s/.exec(stdout) ?? undefined)
    const { status, body } = await service.call('GET', '/health/ready')
    t.match({ status, body }, { status: 503, body: { message: /stopping/, status: 'draining' } })
    t.equal((await service.call('GET', '/health/live')).status, 200)
    const created = await service.call('POST', '/user/assistant', { token, body: newAssistant() })
    t.strictSame([created.status, created.headers.get('connection')], [201, 'close'])
    service.process.signal('SIGTERM')
    await service.process.says((stdout) => /Draining after SIGTERM/.exec(stdout) ?? undefined)
    const { statusCode, headers } = await answer(newAssistant())
    t.equal(statusCode, 201)
    t.equal(headers.connection, 'close')
    t.equal((await service.process.ended).code, 0)
    t.equal(service.process.stderr(), '')
    const lines = service.process.stdout().split('\n').filter(Boolean).map((text): Line => JSON.parse(text))
    for (const { level, time, msg } of lines) if (!(level > 0 && time > 0 && msg)) t.fail(`no line of the log: ${msg}`)
    t.match(lines[0], { msg: 'PORRT is no setting: did you mean PORT?' })
    t.equal(lines.at(-1)?.msg, 'Stopped.')
    t.match(lines.find(({ msg }) => msg === 'a warning of Node'), { level: 40, err: { message: 'careful' } })
    t.ok(lines.some(({ msg, route }) => msg === 'request' && route === '/user/assistant'))
    t.match(lines.filter(({ msg }) => /listening/i.test(msg)), [{
      level: 30, url: service.url, docs: `${service.url}/docs`, console: `${service.url}/`, data: folder
    }], 'where it listens is said once')
    t.notMatch(service.process.stdout(), /eyJ/, 'a token to try with is for a terminal alone')
    t.same(service.process.processes(), [])
    t.notOk(existsSync(join(folder, 'run.json')))
    t.ok(traces.spans.includes('calls: POST /user/assistant'), 'traces are sent to a collector, the last ones at the stop')
  }
}

t.test('commands beside a running start', async (t) => {
  const service = await startService(t, { dataDir: folder, env })
  for (const [title, rule] of Object.entries(rules)) await t.test(title, (t) => rule(t, service))
  const none = join(folder, 'none')
  t.match(await doctor(t, { DATA_DIR: none }), { code: 0 })
  t.notOk(existsSync(none), 'nothing is made')
})

t.test('a start whose PORT is taken says so before it makes anything', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const empty = dataDir(t)
  const { code, stderr } = await runWarm(['start'], { DATA_DIR: empty, PORT: String(port) })
  t.match({ code, stderr }, { code: 1, stderr: `HOST 127.0.0.1, PORT ${port} cannot be listened on: ` })
  t.strictSame(readdirSync(empty).filter((name) => /postgres|event-store/.test(name)), [])
})
