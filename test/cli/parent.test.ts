// A process that npm started ends with npm; one that a person started may outlive its shell.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'

const child = `
  import { watchParent } from '${new URL('../../src/cli/shutdown.js', import.meta.url).href}'
  watchParent(() => { console.log('parent lost'); clearTimeout(life) }, 10)
  const life = setTimeout(() => console.log('lived on'), Number(process.env.LIFE_MS))
  console.log('ready')
`
// The shell between npm and its script: it dies of a signal and its child does not notice.
const shell = `
  import { spawn } from 'node:child_process'
  spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(child)}], { stdio: 'inherit' })
`

async function outputAfterLoss (t: Test, env: NodeJS.ProcessEnv): Promise<string> {
  const between = spawn(process.execPath, ['--input-type=module', '-e', shell], {
    env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => between.kill('SIGKILL'))
  let output = ''
  between.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (text.includes('ready')) between.kill('SIGTERM')
  })
  await once(between, 'close') // the pipe closes when the child has ended too
  return output
}

t.test('started by npm, it learns that npm is gone', async (t) => {
  t.equal(await outputAfterLoss(t, { npm_lifecycle_event: 'start', LIFE_MS: '20000' }), 'ready\nparent lost\n')
})

t.test('started otherwise, it lives on', async (t) => {
  t.equal(await outputAfterLoss(t, { npm_lifecycle_event: undefined, LIFE_MS: '300' }), 'ready\nlived on\n')
})
