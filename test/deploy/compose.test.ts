// docker-compose.yml: two shapes of which one is started at a time, and as few rights as each process needs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { packageRoot } from '../../src/package-root.js'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { onPath } from '../support/ringledger.js'
import { loadConfig } from '../../src/config.js'
import { secretNames } from '../../src/settings.js'
import { secrets } from '../support/auth/secrets.js'
import { manifestFolder } from '../support/deploy/manifests.js'

interface Service {
  image: string
  build?: string | { context: string, target: string }
  command?: string[]
  profiles?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}

const composeFile = join(packageRoot, 'docker-compose.yml')

const { services }: { services: Record<string, Service> } = parse(readFileSync(composeFile, 'utf8'), { merge: true })

const offeredSettings = [...readFileSync(join(packageRoot, '.env.example'), 'utf8').matchAll(/^([A-Z_]+)=/gm)]
  .map(([, name = '']) => name)

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')

t.test('a profile is one shape: none of the one starts beside the other', async (t) => {
  const of = (profile: string) => Object.keys(services).filter((name) => services[name]?.profiles?.join() === profile)
  t.same(of('embedded'), ['embedded'])
  t.same(of('production'), ['eventstore', 'postgres', 'redis', 'migrate', 'api', 'projector', 'worker'])
  t.equal(of('embedded').length + of('production').length, Object.keys(services).length)
  t.match(textOf('.env.example'), /^COMPOSE_PROFILES=production$/m, 'what is started without a profile')
})

t.test('no container keeps rights that it does not need', async (t) => {
  for (const [name, { cap_drop, security_opt }] of Object.entries(services)) {
    t.same({ cap_drop, security_opt }, { cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name)
  }
})

const compose = onPath('docker-compose')

type WithSecrets = Service & { secrets?: string[] }

const file = join(packageRoot, 'deploy/compose-secrets.yml')
const text = readFileSync(file, 'utf8')
const byFile: { services: Record<string, WithSecrets>, secrets: Record<string, { file: string }> } =
  parse(text, { merge: true })
const roles = ['migrate', 'api', 'projector', 'worker']
/** Addresses inside the network of Compose, without a login. */
const noSecret = ['REDIS_URL', 'EVENTSTORE_URL']
const values: Record<string, string> = {
  'jwt-secret': secrets.JWT_SECRET,
  'secret-key': secrets.SECRET_KEY,
  'lead-digest-key': secrets.LEAD_DIGEST_KEY,
  'database-url': 'postgres://ringledger:hunter2@postgres:5432/ringledger'
}

t.test('each role reads every secret from a file that it is given, and has none in its environment', async (t) => {
  const folder = t.testdir(values)
  for (const role of roles) {
    const { environment = {}, secrets: given = [] } = byFile.services[role] ?? {}
    const inFolder = (path: string) => path.replace('/run/secrets', folder)
    const own = Object.entries({ ...services[role]?.environment, ...environment })
      .map(([name, value]) => [name, inFolder(value.replace(/\$\{\w+:-(.*)\}/, '$1'))])
    const config = loadConfig(Object.fromEntries(own))
    t.match(config, {
      jwt: { secret: values['jwt-secret'] },
      secretKey: values['secret-key'],
      leadDigestKey: values['lead-digest-key'],
      backEnds: { databaseUrl: values['database-url'] }
    }, role)
    t.same(given, Object.keys(values), role)
    for (const name of given) t.match(byFile.secrets[name]?.file, new RegExp(`/${name}$`))
  }
})

t.test('a secret that not everybody has stands in a comment, and none is forgotten', async (t) => {
  const named = [...text.matchAll(/^ {4}(?:# )?([A-Z_]+)_FILE: \/run\/secrets\/([a-z-]+)/gm)]
  t.same(named.map(([, name]) => name).sort(), secretNames.filter((name) => !noSecret.includes(name)).sort())
  for (const [, , secret] of named) {
    t.match(text, new RegExp(`^    (# )?- ${secret}$`, 'm'))
    t.match(text, new RegExp(`^  (# )?${secret}: \\{ file: `, 'm'))
  }
})
if (compose === undefined) t.comment('docker-compose is not here: its own check of the two files was not made')
else {
  t.test('Compose takes both files, and Postgres its password from one', async (t) => {
    const settings = join(t.testdir({ empty: '' }), 'empty')
    const files = ['--file', composeFile, '--file', file, '--env-file', settings]
    const { stdout } = await promisify(execFile)(compose, [...files, '--profile', 'production', 'config'])
    const merged: { services: Record<string, Service> } = parse(stdout)
    t.match(merged.services.postgres?.environment,
      { POSTGRES_PASSWORD: '', POSTGRES_PASSWORD_FILE: '/run/secrets/postgres-password' })
    for (const role of roles) {
      t.match(
        merged.services[role]?.environment, { DATABASE_URL: '', SECRET_KEY_FILE: '/run/secrets/secret-key' }, role
      )
    }
  })
}

/** Settings of embedded back ends, or of Compose alone. */
const elsewhere = ['DATA_DIR', 'EMBEDDED_EVENTSTORE_PORT', 'COMPOSE_PROFILES', 'POSTGRES_PASSWORD']
const offered = offeredSettings.filter((name) => !elsewhere.includes(name)).sort()

/** Compose itself decides these: addresses inside its network. */
const decided = ['HOST', 'PORT', 'EVENTSTORE_URL', 'DATABASE_URL', 'REDIS_URL']
const ofBackEnds = ['EVENTSTORE_URL', 'DATABASE_URL', 'REDIS_URL']

t.test('every setting of .env.example reaches each role', async (t) => {
  for (const role of ['migrate', 'api', 'projector', 'worker', 'embedded']) {
    const { environment = {} } = services[role] ?? {}
    const passed = role === 'embedded' ? offered.filter((name) => !ofBackEnds.includes(name)) : offered
    t.same(Object.keys(environment).filter((name) => name !== 'DATA_DIR').sort(), passed, role)
    for (const name of passed) {
      const wanted = decided.includes(name) ? /./ : new RegExp(`^\\$\\{${name}(:|\\})`)
      t.match(environment[name], wanted, `${role}: ${name}`)
    }
  }
})

// A secret that not everybody has stands in a comment: a file of it cannot be empty, as a setting can.
t.test('the manifests for Kubernetes have each of them, as it is or by file', async (t) => {
  const lines = readFileSync(join(manifestFolder, 'settings.yaml'), 'utf8').matchAll(/^ {2}(?:# )?([A-Z_]+): /gm)
  const settingOf = (name: string) => offered.includes(name) ? name : name.replace(/_FILE$/, '')
  t.same([...lines].map(([, name = '']) => settingOf(name)).sort(), offered)
})
