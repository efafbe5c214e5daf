// What `ringledger completion` prints completes commands and options in the shell itself.
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { runWarm } from '../support/ringledger.js'

t.test('bash completes commands at each level, options and choices', async (t) => {
  const { stdout: completes } = await runWarm(['completion', 'bash'])
  const completed = (...typed: string[]) => {
    const words = ['ringledger', ...typed].map((word) => `'${word}'`).join(' ')
    const asked = `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _ringledger; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${completes}\n${asked}`], { encoding: 'utf8' })
    t.equal(stderr, '')
    return stdout.split('\n').filter(Boolean)
  }
  t.same(completed('mig'), ['migrate'])
  t.ok(['start', 'backup', 'doctor', 'projections', '--version'].every((word) => completed('').includes(word)))
  t.same(completed('projections', 'quarantine', 're'), ['retry', 'resume'])
  t.same(completed('token', '--user', '1', '--t'), ['--ttl'])
  t.same(completed('completion', 'f'), ['fish'])
})
