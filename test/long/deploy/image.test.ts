// The Dockerfile, as far as it can be tried without an engine: what it copies is there, and what it holds runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { packageRoot, packageVersion } from '../../../src/package-root.js'
import { secrets } from '../../support/auth/secrets.js'
import { copies, instructions, stage, stages } from '../../support/deploy/dockerfile.js'
import { filesBelow, unpackImage } from '../../support/deploy/image.js'
import { listeningUrl } from '../../support/processes/role-log.js'
import { dataDir, ringledger } from '../../support/ringledger.js'
import { untilReady } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')
const packageJson: { engines: { node: string }, workspaces: string[], dependencies: object } = JSON.parse(textOf('package.json'))

t.test('every stage is on the same exact version of Node 24, and the last one is the service', async (t) => {
  const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from))
  t.same([...new Set(bases)].length, 1)
  t.match(bases[0], /^node:24\.\d+\.\d+-bookworm-slim$/)
  t.match(stages.at(-1), { from: 'service', instructions: [] }, 'without a target, nothing embedded comes along')
})

t.test('the README and the tutorial recommend that version of Node, and name the oldest that works', async (t) => {
  for (const file of ['README.md', 'CONTRIBUTING.md', 'docs/tutorial.md']) {
    t.match(textOf(file), packageJson.engines.node.replace('>=', ''), file)
    t.match(textOf(file), /Node 24/, file)
  }
})

t.test('what is copied from the checkout is there, and reaches the engine', async (t) => {
  const rules = textOf('.dockerignore').split('\n').filter(Boolean)
  t.equal(rules[0], '*', 'nothing reaches it but what is named')
  const own = stages.flatMap(copies).filter(({ from }) => from === undefined).flatMap(({ sources }) => sources)
  for (const path of own.filter((path) => path !== '.')) {
    t.ok(existsSync(join(packageRoot, path)), path)
    t.ok(rules.includes(`!${path.split('/')[0]}`), `${path} is named in .dockerignore`)
  }
})

t.test('npm knows every package of the workspace before it installs', async (t) => {
  const copied = copies(stage('manifests')).flatMap(({ sources }) => sources)
  t.same(copied.sort(), ['package.json', 'package-lock.json', ...packageJson.workspaces.map((path) => `${path}/package.json`)].sort())
  const used = packageJson.workspaces.filter((path) => `@ringledger/${basename(path)}` in packageJson.dependencies)
  t.ok(used.length > 0)
  for (const path of used) { // the service does without the others, such as the client of its API
    t.ok(copies(stage('service')).some(({ target }) => target === `${path}/dist`), `${path} is built and copied`)
  }
})

t.test('both images run as a user without rights, and hold no secret', async (t) => {
  for (const name of ['service', 'embedded']) t.equal(instructions(stage(name), 'USER').at(-1), 'node', name)
  const variables = stages.flatMap((each) => [...instructions(each, 'ENV'), ...instructions(each, 'ARG')]).join(' ')
  t.notMatch(variables, /SECRET|PASSWORD|TOKEN|_KEY/)
})

t.test('the embedded one keeps its data on a volume that its user may write', async (t) => {
  const embedded = stage('embedded')
  const [volume = ''] = instructions(embedded, 'VOLUME')
  t.match(instructions(embedded, 'ENV'), [`DATA_DIR=${volume}`])
  t.match(instructions(embedded, 'RUN').join(), new RegExp(`--owner=node .*${volume}`))
})

t.test('what the image holds starts without packages of development, is healthy, and writes nothing into it', async (t) => {
  const image = dataDir(t)
  unpackImage(image)
  const entry = /^\["node", "(.*)"\]$/.exec(instructions(stage('service'), 'ENTRYPOINT')[0] ?? '')?.[1] ?? ''
  const program = [join(image, entry)]
  const before = filesBelow(image)
  const { urls } = await testService(t, [])
  const env = {
    ...secrets, NODE_ENV: 'production', PORT: '0', DATA_DIR: dataDir(t), DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl
  }
  const service = ringledger(t, ['start'], env, program)
  const url = await service.says(listeningUrl)
  await untilReady(url)
  t.match(await (await fetch(`${url}/docs/json`)).json(), { info: { version: packageVersion } })
  t.equal(await healthcheck(new URL(url).port), 0)
  service.signal('SIGTERM')
  t.equal((await service.ended).code, 0)
  t.not(await healthcheck(new URL(url).port), 0, 'nothing listens there any more')
  t.same(filesBelow(image), before)
})

/** The exit status of the command that the engine runs in the container. */
async function healthcheck (port: string): Promise<number | null> {
  const command: string[] = JSON.parse(/CMD (\[.*\])$/.exec(instructions(stage('service'), 'HEALTHCHECK')[0] ?? '')?.[1] ?? '[]')
  const child = spawn(process.execPath, command.slice(1), { env: { PORT: port }, stdio: 'ignore' })
  const [code] = await once(child, 'exit') as [number | null]
  return code
}
