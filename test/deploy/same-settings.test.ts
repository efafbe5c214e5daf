// Compose and Kubernetes pass the same settings on, and all that there are.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { offeredSettings, services } from '../support/deploy/compose.js'
import { manifestFolder } from '../support/deploy/manifests.js'

/** Of embedded back ends, or of Compose alone. */
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
