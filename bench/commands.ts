// Measures commands and reads over HTTP: `npm run bench:commands`.
import { parseArgs } from 'node:util'
import { dispatcherCheckpoint } from '../src/recovery/database-state.js'
import { appends } from './event-store/callers.js'
import { sendRequests, warmUp, type Figures } from './commands/load.js'
import { report, type Limit, type Row } from './commands/report.js'
import { kindsOf, type Kind, type Users } from './commands/requests.js'
import { Scene } from './commands/scene.js'
import { random } from './support/random.js'
import type { Pids } from './support/processes.js'
import type { Statements } from './support/statements.js'
import { vacuumTables } from './support/vacuum.js'

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: 'string', default: '8' },
    warm: { type: 'string', default: '20' }, // seconds that a process gets before
    'in-flight': { type: 'string', default: '1,32,128' },
    users: { type: 'string', default: '100' },
    assistants: { type: 'string', default: '10000' },
    leads: { type: 'string', default: '100000' },
    only: { type: 'string' },
    statements: { type: 'boolean', default: true },
    json: { type: 'boolean', default: false }
  }
})
const isCounted = (name: string) => options.statements && (name === 'POST lead' || name === 'GET lead')
const isChosen = (name: string) => options.only === undefined || options.only.split(';').includes(name)
const seconds = Number(options.seconds)
const inFlights = options['in-flight'].split(',').map(Number)
const sizes = { users: Number(options.users), assistants: Number(options.assistants), leads: Number(options.leads) }
/** At which single statements are told from batches. */
const counted = [1, 32]

const say = (line: string) => process.stderr.write(`${line}\n`)

say(`a log of ${options.leads} leads and ${options.assistants} assistants is made up`)
const scene = await Scene.open(sizes)
const limits: Limit[] = []
const rows: Row[] = []
const users: Users = { ...sizes, count: sizes.users, tokenOf: (id) => scene.tokenOf(id) }
const kinds = kindsOf(users, random(2))
const commands = [
  'POST lead', 'POST lead, known persons', 'POST assistant', 'PUT assistant', 'PUT assistant, one that is remembered'
] as const
const reads = [
  'GET lead', 'GET assistant', 'GET leads, first page', 'GET leads, by campaign', 'GET assistants, first page'
] as const
try {
  await measureApart()
  if (isChosen('all in one')) await measureWhole()
  await measureBare()
} finally {
  if (rows.length > 0) report(withLimits(), limits, options.json) // also what was measured before a failure
  await scene.close()
}

/** Each role is a process; an api that does not wait for the read model stands beside the one that does. */
async function measureApart (): Promise<void> {
  say('the read models are filled')
  const roles = { projector: await scene.start('projector'), worker: await scene.start('worker') }
  await scene.untilLevel([dispatcherCheckpoint]) // readiness does not wait for it
  await scene.withPool(vacuumTables)
  const others = Object.fromEntries(Object.entries(roles).map(([role, { pid }]) => [role, pid]))
  for (const waits of [true, false]) {
    const api = await scene.start('api', waits ? {} : { READ_MODEL_WAIT_MS: '0' })
    const pids = scene.pids({ ...others, api: api.pid })
    await warmUp(api.url, Number(options.warm), kinds['POST lead'])
    for (const name of [...commands, ...waits ? reads : []].filter(isChosen)) {
      await measureKind(waits ? name : `${name}, no wait`, kinds[name], api.url, pids, isCounted(name))
    }
    await api.stop()
  }
  await scene.stopRoles()
}

/** All roles in one process. */
async function measureWhole (): Promise<void> {
  const whole = await scene.start('start')
  const pids = scene.pids({ service: whole.pid })
  await warmUp(whole.url, Number(options.warm), kinds['POST lead'])
  await measureKind('POST lead, all in one process', kinds['POST lead'], whole.url, pids, false)
  await scene.stopRoles()
}

async function measureKind (name: string, kind: Kind, url: string, pids: Pids, isCounted: boolean): Promise<void> {
  await sendRequests(url, pids, { inFlight: 16, seconds: 1 }, kind) // what is its own of it
  for (const inFlight of inFlights) {
    say(`${name}, ${inFlight} in flight`)
    const send = (seconds: number) => sendRequests(url, pids, { inFlight, seconds }, kind)
    const figures = await send(seconds)
    const statements = isCounted && counted.includes(inFlight) ? await countEach(send) : undefined
    rows.push({ name, inFlight, figures, statements })
  }
}

/** SQL statements a request, by consumer. */
async function countEach (send: (seconds: number) => Promise<Figures>): Promise<Statements> {
  let requests = NaN
  const statements = await scene.statementsOf(async () => { requests = (await send(3)).requests })
  return Object.fromEntries(Object.entries(statements).map(([consumer, count]) => [consumer, count / requests]))
}

/** The limits: bare appends, and an app of the same HTTP that does nothing, or one statement. */
async function measureBare (): Promise<void> {
  const app = await scene.startModule(new URL('./commands/bare-app-main.js', import.meta.url))
  const url = `http://127.0.0.1:${app.port}`
  for (const inFlight of inFlights) {
    say(`limits, ${inFlight} in flight`)
    limits.push({ name: `appends, ${inFlight} in flight`, ...await appends(scene.eventStore.url, inFlight, seconds) })
    for (const name of ['POST lead', 'GET lead'] as const) {
      const figures = await sendRequests(url, {}, { inFlight, seconds }, kinds[name])
      limits.push({ name: `bare ${name}, ${inFlight} in flight`, ...figures })
    }
  }
  await scene.stopRoles()
}

/** A command can be no faster than its append, a read than the same statement behind the same HTTP. */
function withLimits (): Row[] {
  const limitOf = ({ name, inFlight }: Row) =>
    limits.find((limit) => limit.name === `${name === 'GET lead' ? 'bare GET lead' : 'appends'}, ${inFlight} in flight`)
  return rows.map((row) => /^GET/.test(row.name) && row.name !== 'GET lead' ? row : { ...row, limit: limitOf(row) })
}
