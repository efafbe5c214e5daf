// deploy/compose-secrets.yml: what is secret comes from files, in every role, and the service starts with that.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config.js'
import { packageRoot } from '../../src/package-root.js'
import { secretNames } from '../../src/settings.js'
import { secrets } from '../support/auth/secrets.js'
import { composeFile, services, type Service } from '../support/deploy/compose.js'
import { onPath } from '../support/ringledger.js'

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

t.test('what not everybody has stands in a comment, and nothing is forgotten', async (t) => {
  const named = [...text.matchAll(/^ {4}(?:# )?([A-Z_]+)_FILE: \/run\/secrets\/([a-z-]+)/gm)]
  t.same(named.map(([, name]) => name).sort(), secretNames.filter((name) => !noSecret.includes(name)).sort())
  for (const [, , secret] of named) {
    t.match(text, new RegExp(`^    (# )?- ${secret}$`, 'm'))
    t.match(text, new RegExp(`^  (# )?${secret}: \\{ file: `, 'm'))
  }
})

const compose = onPath('docker-compose')
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
