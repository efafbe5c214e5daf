// The tutorial works when its commands are pasted, one after the other, on a first start.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { freePort } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { localWebhooks, startService } from '../../support/running-service.js'

const tutorial = await readFile('docs/tutorial.md', 'utf8')
const [start = '', ...commands] = [...tutorial.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, text = '']) => text)

t.test('the commands of the tutorial lead to a webhook at the receiver', async (t) => {
  const [, settings = ''] = /^((?:WEBHOOK_\w+=\S+ )+)npm start$/m.exec(start) ?? []
  const env = Object.fromEntries(settings.trim().split(' ').map((setting) => setting.split('=')))
  t.match(localWebhooks, env, 'the service is started as it says')
  const service = await startService(t, { env })
  const port = String(await freePort())
  const pasted = commands.join('\n').replaceAll('http://127.0.0.1:3000', service.url).replaceAll('4000', port)

  const options = { env: { ...process.env, DATA_DIR: service.dataDir }, detached: true }
  const shell = spawn('bash', ['-e'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => { if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL') }) // with the receiver
  const said = { stdout: '', stderr: '' }
  shell.stdout.on('data', (text) => { said.stdout += text })
  shell.stderr.on('data', (text) => { said.stderr += text })
  shell.stdin.write(`${pasted}\necho\necho all done\n`) // its input stays open, as that of a terminal does

  const [, line = ''] = /^ {4}(call\.completed .*)$/m.exec(tutorial) ?? []
  await eventually(async () => said.stdout.includes(line) && said.stdout.includes('all done'), 60_000)
    .catch((error: unknown) => { throw new Error(JSON.stringify(said), { cause: error }) })
  t.match(said.stdout, /Assistant created successfully[^]*Lead created successfully/)
  t.match(said.stdout, /"call_id":"call-1"/)
  t.notMatch(said.stderr, /is no setting/, 'and no command wonders at what was set')
  t.match(said.stdout, /delivered +│ 1 [^]*unaccounted +│ 0 /)
})
