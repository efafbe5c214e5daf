// Clients of other languages, made from the document of a running service, do a small job with it. Rust is tried by
// hand (docs/clients/try.sh): to compile what its client needs takes a minute of CPU.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
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
