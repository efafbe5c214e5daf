// What `ringledger completion` prints completes commands and options in the shell itself.
import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { runWarm } from '../support/ringledger.js'

const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

async function script (t: Test, shell: string): Promise<string> {
  const { code, stdout, stderr } = await runWarm(['completion', shell])
  t.equal(code, 0, stderr)
  return stdout
}

t.test('bash completes commands at each level, options and choices', async (t) => {
  const completes = await script(t, 'bash')
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

t.test('zsh and fish take theirs', async (t) => {
  for (const shell of ['zsh', 'fish']) {
    const completes = await script(t, shell)
    t.match(completes, /quarantine/)
    if (isThere(shell)) t.equal(spawnSync(shell, ['-n'], { input: completes }).status, 0, shell)
    else t.comment(`${shell} is not here: its script was not run`)
  }
})
