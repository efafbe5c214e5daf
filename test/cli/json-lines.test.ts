// Where no terminal is, a role writes lines of JSON and nothing else, from its start to its end.
import t from 'tap'
import { readable } from '../../src/cli/output.js'
import { newAssistant } from '../support/bodies/bodies.js'
import { reasonIn, listeningUrl, dataDir, ringledger, runWarm } from '../support/ringledger.js'
import { caller, startService } from '../support/running-service.js'

const roles = ['api', 'projector', 'worker']

interface Line { level: number, time: number, msg: string, [fact: string]: unknown }

function linesOf (output: string): Line[] {
  return output.split('\n').filter(Boolean).map((text) => {
    const line: Line = JSON.parse(text)
    if (!(line.level > 0 && line.time > 0 && line.msg)) throw new Error(`no line of the log: ${text}`)
    return line
  })
}

const wordsOf = (output: string) => linesOf(output).map(({ msg }) => msg)

/** Gives a warning of Node when it is signalled. */
const warns = "data:text/javascript,process.once('SIGWINCH',()=>process.emitWarning('careful'))"

t.test('start and each role say by lines of the log what they do, from the first to the last', async (t) => {
  const env = { DRAIN_DELAY_MS: '1', PORRT: '1' }
  const service = await startService(t, { env: { ...env, LOG_LEVEL: 'debug' } })
  const others = roles.map((role) =>
    ringledger(t, [role], { ...env, DATA_DIR: service.dataDir, PORT: '0', NODE_OPTIONS: `--import=${warns}` }))
  for (const other of others) await other.says(listeningUrl)
  const token = await service.token('1')
  t.equal((await caller(service.url)('POST', '/user/assistant', { token, body: newAssistant() })).status, 201)
  for (const { pid } of others) process.kill(pid, 'SIGWINCH')
  for (const other of others) await other.says((stdout) => stdout.includes('careful') || undefined)
  for (const { signal, ended } of [...others, service.process]) {
    signal('SIGTERM')
    t.equal((await ended).code, 0)
  }
  for (const { stdout, stderr } of [...others, service.process]) {
    t.equal(stderr(), '')
    const words = wordsOf(stdout())
    t.match(words[0], 'PORRT is no setting: did you mean PORT?')
    t.match(words.slice(-3), [/^Not ready any more; draining after/, 'Draining after SIGTERM ...', 'Stopped.'])
  }
  const started = linesOf(service.process.stdout())
  t.ok(started.some(({ msg }) => msg.startsWith('Starting Postgres')))
  t.ok(started.some(({ msg, route }) => msg === 'request' && route === '/user/assistant'))
  t.equal(started.filter(({ msg }) => /listening/i.test(msg)).length, 1, 'where it listens is said once')
  t.match(started.find(({ msg }) => msg.includes('is listening')), {
    level: 30, url: service.url, docs: `${service.url}/docs`, console: `${service.url}/`, data: service.dataDir
  })
  t.notMatch(service.process.stdout(), /eyJ/, 'a token to try with is for a terminal alone')
  for (const [index, { stdout }] of others.entries()) {
    const lines = linesOf(stdout())
    t.match(lines.find(({ msg }) => msg.includes('is listening')), { level: 30, role: roles[index], url: listeningUrl(stdout()) })
    t.match(lines.find(({ msg }) => msg === 'a warning of Node'), { level: 40, err: { message: 'careful' } })
  }
})

t.test('a refusal to start is one line, at level fatal', async (t) => {
  for (const role of ['start', ...roles]) {
    const { code, stdout, stderr } = await runWarm([role], { DATA_DIR: dataDir(t), PORT: 'x', SECRET_KEY: 'short' })
    t.equal(code, 1)
    t.equal(stdout, '')
    const [line, ...more] = linesOf(stderr)
    t.strictSame(more, [])
    t.equal(line?.level, 60)
    t.match(reasonIn(stderr), /^These settings are not right:\n {2}PORT .*\n {2}SECRET_KEY /)
  }
})

t.test('on a terminal a line of the log is a sentence, which cannot steer it', async (t) => {
  const time = new Date(2026, 0, 31, 9, 5, 7).getTime()
  const line = { level: 40, time, method: 'GET', ms: 1.5, err: { message: 'gone\u001b[2J', stack: 'Error: gone\n at x' }, msg: 'away' }
  t.equal(readable(`${JSON.stringify(line)}\n`), '09:05:07 warn away method=GET ms=1.5 error=gone·[2J\n')
})
