// The Dockerfile, as far as it can be tried without an engine: what it copies is there, and what it holds runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { packageRoot, packageVersion } from '../../../src/package-root.js'
import { secrets } from '../../support/auth/secrets.js'
import { listeningUrl, dataDir, ringledger } from '../../support/ringledger.js'
import { untilReady } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

/** `from` is an image, or the name of a former stage. */
interface Stage { name: string, from: string, instructions: Array<{ name: string, args: string }> }
/** `from` is the stage that it is copied from; absent for this repository. */
interface Copy { from?: string | undefined, sources: string[], target: string }

const stages = stagesOf(readFileSync(join(packageRoot, 'Dockerfile'), 'utf8'))

const stage = (name: string): Stage => {
  const found = stages.find((each) => each.name === name)
  if (!found) throw new Error(`The Dockerfile has no stage ${name}`)
  return found
}

const instructions = ({ instructions }: Stage, name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ args }) => args)

const copies = (of: Stage): Copy[] => instructions(of, 'COPY').map((args) => {
  const words = args.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  return { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' }
})

function stagesOf (text: string): Stage[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const found: Stage[] = []
  for (const line of lines) {
    const [, name = '', args = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    const [, from = '', as = ''] = /^(\S+)(?: AS (\S+))?$/.exec(args) ?? []
    if (name === 'FROM') found.push({ from, name: as, instructions: [] })
    else found.at(-1)?.instructions.push({ name, args })
  }
  return found
}

// What the image of the service holds, as a folder that is put together as the Dockerfile says.
interface Locked { dev?: boolean, optional?: boolean, devOptional?: boolean }

/** Fills `folder`, which is empty. */
function unpackImage (folder: string): void {
  for (const { from, sources, target } of copies(stage('service'))) {
    for (const source of sources) {
      const path = source.replace(/^\/build\//, '')
      const to = target === './' ? join(folder, path) : join(folder, target)
      if (path === 'node_modules') copyDependencies(folder)
      else if (from === 'dependencies') copyManifests(path, to)
      else copy(path, to)
    }
  }
}

/** As `npm ci --omit=dev --omit=optional` installs them. What is nested in a package has a row of its own. */
function copyDependencies (folder: string): void {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8'))
  for (const [path, { dev, optional, devOptional }] of Object.entries(packages)) {
    if (!path.startsWith('node_modules/') || dev || optional || devOptional) continue
    copy(path, join(folder, path), 'node_modules')
  }
}

/** What is there of the packages of this repository when their dependencies are installed. */
function copyManifests (path: string, to: string): void {
  for (const name of readdirSync(join(packageRoot, path))) {
    copy(join(path, name, 'package.json'), join(to, name, 'package.json'))
  }
}

function copy (path: string, to: string, except?: string): void {
  const filter = (file: string) => except === undefined || basename(file) !== except
  cpSync(join(packageRoot, path), to, { recursive: true, verbatimSymlinks: true, filter })
}

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')

t.test('every stage is on the same exact version of Node 24, and the last one is the service', async (t) => {
  const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from))
  t.same([...new Set(bases)].length, 1)
  t.match(bases[0], /^node:24\.\d+\.\d+-bookworm-slim$/)
  t.match(stages.at(-1), { from: 'service', instructions: [] }, 'without a target, nothing embedded comes along')
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

t.test('both images run as a user without rights, and hold no secret', async (t) => {
  for (const name of ['service', 'embedded']) t.equal(instructions(stage(name), 'USER').at(-1), 'node', name)
  const variables = stages.flatMap((each) => [...instructions(each, 'ENV'), ...instructions(each, 'ARG')]).join(' ')
  t.notMatch(variables, /SECRET|PASSWORD|TOKEN|_KEY/)
})

t.test('what the image holds starts without packages of development, and is healthy', async (t) => {
  const image = dataDir(t)
  unpackImage(image)
  const entry = /^\["node", "(.*)"\]$/.exec(instructions(stage('service'), 'ENTRYPOINT')[0] ?? '')?.[1] ?? ''
  const program = [join(image, entry)]
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
})

/** The exit status of the command that the engine runs in the container. */
async function healthcheck (port: string): Promise<number | null> {
  const command: string[] = JSON.parse(/CMD (\[.*\])$/.exec(instructions(stage('service'), 'HEALTHCHECK')[0] ?? '')?.[1] ?? '[]')
  const child = spawn(process.execPath, command.slice(1), { env: { PORT: port }, stdio: 'ignore' })
  const [code] = await once(child, 'exit') as [number | null]
  return code
}
