// docker-compose.yml takes every setting that .env.example offers, and gives each process as few rights as it needs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { packageRoot } from '../../src/package-root.js'

interface Service { image: string, environment?: Record<string, string>, cap_drop?: string[], security_opt?: string[] }

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')
const { services }: { services: Record<string, Service> } = parse(textOf('docker-compose.yml'), { merge: true })
const offered = [...textOf('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name)
const roles = ['migrate', 'api', 'projector', 'worker']

/** Of embedded back ends, or of Compose alone. */
const elsewhere = ['DATA_DIR', 'EMBEDDED_EVENTSTORE_PORT', 'POSTGRES_PASSWORD']

/** Compose itself decides these: addresses inside its network, and no directory for embedded back ends. */
const decided = ['HOST', 'PORT', 'EVENTSTORE_URL', 'DATABASE_URL', 'REDIS_URL']

t.test('every setting of .env.example reaches each role', async (t) => {
  for (const role of roles) {
    const { environment = {} } = services[role] ?? {}
    for (const name of offered.filter((name) => !elsewhere.includes(name))) {
      const wanted = decided.includes(name) ? /./ : new RegExp(`^\\$\\{${name}(:|\\})`)
      t.match(environment[name], wanted, `${role}: ${name}`)
    }
  }
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

t.test('what Node is asked for is what the README names, and images are on the one that is kept longest', async (t) => {
  const { engines: { node } } = JSON.parse(textOf('package.json')) as { engines: { node: string } }
  t.match(textOf('README.md'), node.replace('>=', ''))
  for (const [, image] of textOf('Dockerfile').matchAll(/^FROM (node:\S+)/gm)) t.match(image, /^node:24\./)
})

t.test('images have exact versions', async (t) => {
  const images = Object.values(services).map(({ image }) => image).filter((image) => image !== 'ringledger')
  const bases = [...textOf('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image)
  for (const image of [...images, ...bases]) t.match(image, /:\d+\.\d+\.\d+|:17\.\d+/, image)
})
