// `npm run check`: types, style and imports at the same time, since each uses one core.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const checks = await Promise.all(['typecheck', 'lint:style', 'lint:imports'].map(check))
for (const { name, output, status } of checks) {
  process.stdout.write(`${output}${name}: ${status === 0 ? 'ok' : 'FAILED'}\n`)
  if (status !== 0) process.exitCode = 1
}

async function check (name) {
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text })
  const [status] = await once(child, 'close')
  return { name, output, status }
}
