// docker-compose.yml: two shapes of which one is started at a time, and as few rights as each process needs.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { composeFile, services } from '../support/deploy/compose.js'
import { onPath } from '../support/ringledger.js'

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')

t.test('a profile is one shape: none of the one starts beside the other', async (t) => {
  const of = (profile: string) => Object.keys(services).filter((name) => services[name]?.profiles?.join() === profile)
  t.same(of('embedded'), ['embedded'])
  t.same(of('production'), ['eventstore', 'postgres', 'redis', 'migrate', 'api', 'projector', 'worker'])
  t.equal(of('embedded').length + of('production').length, Object.keys(services).length)
  t.match(textOf('.env.example'), /^COMPOSE_PROFILES=production$/m, 'what is started without a profile')
})

t.test('the embedded shape keeps all that it writes on its volume', async (t) => {
  const { environment, volumes, read_only: isReadOnly, command, build } = services.embedded ?? {}
  t.match({ isReadOnly, command, build }, { isReadOnly: true, command: ['start'], build: { target: 'embedded' } })
  t.same(volumes, [`embedded-data:${environment?.DATA_DIR}`])
})

t.test('no container keeps rights that it does not need', async (t) => {
  for (const [name, { cap_drop, security_opt }] of Object.entries(services)) {
    t.same({ cap_drop, security_opt }, { cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name)
  }
})

t.test('the service is no superuser of Postgres', async (t) => {
  const { environment = {} } = services.postgres ?? {}
  const user = new URL(services.api?.environment?.DATABASE_URL?.replace(/\$\{.*\}/, 'password') ?? '').username
  t.not(user, environment.POSTGRES_USER ?? 'postgres')
  t.match(textOf('deploy/postgres/10-role.sh'), new RegExp(`CREATE ROLE ${user} LOGIN PASSWORD`))
})

t.test('images have exact versions', async (t) => {
  const images = Object.values(services).filter(({ build }) => !build).map(({ image }) => image)
  t.equal(images.length, 3)
  for (const image of images) t.match(image, /:\d+\.\d+\.\d+|:17\.\d+/, image)
})

const compose = onPath('docker-compose')
if (compose === undefined) t.comment('docker-compose is not here: its own check of docker-compose.yml was not made')
else {
  t.test('Compose takes the file, without a single setting', async (t) => {
    const settings = join(t.testdir({ empty: '' }), 'empty')
    await t.resolves(promisify(execFile)(compose, ['--file', composeFile, '--env-file', settings, 'config', '--quiet']))
  })
}
