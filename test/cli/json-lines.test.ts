// What a role says where it cannot start, and on a terminal.
import t from 'tap'
import { readable } from '../../src/cli/output.js'
import { reasonIn, dataDir, runWarm } from '../support/ringledger.js'

t.test('a refusal to start is one line, at level fatal', async (t) => {
  for (const role of ['start', 'api', 'projector', 'worker']) {
    const { code, stdout, stderr } = await runWarm([role], { DATA_DIR: dataDir(t), PORT: 'x', SECRET_KEY: 'short' })
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, /^.*\n$/)
    t.equal(JSON.parse(stderr).level, 60)
    t.match(reasonIn(stderr), /^These settings are not right:\n {2}PORT .*\n {2}SECRET_KEY /)
  }
})

t.test('on a terminal a line of the log is a sentence, which cannot steer it', async (t) => {
  const time = new Date(2026, 0, 31, 9, 5, 7).getTime()
  const line = { level: 40, time, method: 'GET', ms: 1.5, err: { message: 'gone\u001b[2J', stack: 'Error: gone\n at x' }, msg: 'away' }
  t.equal(readable(`${JSON.stringify(line)}\n`), '09:05:07 warn away method=GET ms=1.5 error=gone·[2J\n')
})
