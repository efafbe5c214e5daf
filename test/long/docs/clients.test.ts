// Clients of other languages, made from the document of a running service, do a small job with it. Rust is tried by
// hand (docs/clients/try.sh): to compile what its client needs takes a minute of CPU.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { onPath } from '../../support/processes/on-path.js'
import { testService } from '../../support/service.js'

const script = 'docs/clients/try.sh'

/** What it prints. @throws when a client does not compile or does not do its job */
async function tried (args: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', [script, ...args], { env: environment })
  return stdout
}

t.test('clients in Python, Go and Java create, list, update one field, and read refusals and webhooks', async (t) => {
  const { url, token } = await testService(t, ['api', 'projector'], { BASE_PATH: '/v1' })
  const environment = { ...process.env, TOKEN: await token('1') }
  const said = await tried([`${url}/v1`, 'python', 'go', 'java'], environment).catch((error) => {
    throw new Error(error.stdout)
  })
  for (const language of ['python', 'go', 'java']) {
    t.match(said, new RegExp(`^(works: ${language}: .*campaign_id|left out: (${language}|all): \\w)`, 'm'))
  }
})

t.test('a language whose tools are not here is left out, and the reason is said', async (t) => {
  const without = await pathOf(t, ['bash', 'dirname', 'mktemp', 'rm'])
  t.equal(await tried(['http://127.0.0.1:1', 'rust'], { TOKEN: 'none', PATH: without }),
    'left out: all: openapi-generator needs java\n')
})

t.test('the page shows the options that are tried', async (t) => {
  const [page = '', tries = ''] = await Promise.all(['docs/clients.md', script].map((file) => readFile(file, 'utf8')))
  const options = [...tries.matchAll(/"(\w+)": (true|false)/g)].map(([, name, value]) => `${name}=${value}`)
  t.same(options, ['enumClassPrefix=true', 'containerDefaultToNull=true', 'openApiNullable=false'])
  for (const option of [...options, '--library native']) t.match(page, option)
})

/** A folder with these programs and no other. */
async function pathOf (t: Test, programs: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rl-path-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const program of programs) await symlink(onPath(program) ?? '', join(folder, program))
  return folder
}
