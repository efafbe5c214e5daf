// A caller reads what it wrote: over thousands of writes, while a projector is delayed, killed, restarted and replayed.
import t, { type Test } from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { type Ringledger, dataDir, ringledger, run, listeningUrl } from '../../support/ringledger.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'
import { secrets } from '../../support/auth/secrets.js'
import { type Answer, caller } from '../../support/running-service.js'

// Writes through one process that are read through another, and what the reads showed of them.
/** A thing that was written: where it is read, and in which list it is the only one. */
interface Written { path: string, list: string, answer: Answer }

const positionOf = ({ headers }: Answer) => headers.get('x-read-position')

/** Of a read assistant only its summary was written down; a lead is read as it was answered. */
function shows ({ answer: { body: { data: written } } }: Written, { status, body }: Answer): boolean {
  const [read, isOnly] = Array.isArray(body.data) ? [body.data[0], body.meta.total === 1] : [body.data, true]
  return status === 200 && isOnly && read !== undefined &&
    Object.keys(written).every((key) => JSON.stringify(read[key]) === JSON.stringify(written[key]))
}

const enough = 2_000
const folder = dataDir(t)
const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '300' })
const another = await service.start(['api'])
const { pool } = service.parts
const projectorEnv = {
  ...secrets,
  DATABASE_URL: service.urls.databaseUrl,
  EVENTSTORE_URL: service.urls.eventStoreUrl,
  DATA_DIR: folder,
  PORT: '0',
  LOG_LEVEL: 'warn'
}
const token = await service.token('1')
/** Reads go to another process, so that nothing is right only because the writing one remembers it. */
const [writer, reader] = [caller(service.url), caller(another.url)]
const seen = { writes: 0, pending: 0, equal: 0, behind: 0 }
const wrong: object[] = []
/** Answers that reads did not show yet and that no later write replaced. */
const owed = new Map<string, Written>()

const get = (path: string, position?: string | null) =>
  reader('GET', path, { token, headers: position ? { 'x-read-position': position } : {} })

async function createAssistant (name: string): Promise<Written> {
  const answer = await writer('POST', '/user/assistant', { token, body: newAssistant({ assistant_name: name }) })
  return { path: `/user/assistant/${answer.body.data.id}`, list: `/user/assistants?name=${name}`, answer }
}

async function update (path: string, name: string): Promise<Written> {
  const body = { assistant_name: name, calls_direction: name.length % 2 ? 'make' : 'receive' }
  return { path, list: `/user/assistants?name=${name}`, answer: await writer('PUT', path, { token, body }) }
}

async function createLead (phone_number: string): Promise<Written> {
  const body = newLead({ phone_number, secondary_contacts: [{ phone_number: '+16660000001' }] })
  const answer = await writer('POST', '/user/lead', { token, body })
  const list = `/user/leads?campaign_id=1&phone_number=${phone_number.slice(1)}`
  return { path: `/user/lead/${answer.body.data.id}`, list, answer }
}

/** What is not pending shows in the very next read; with its position it shows, or the read is refused. */
async function readBack (written: Written): Promise<void> {
  const { path, list, answer } = written
  seen.writes++
  if (![200, 201].includes(answer.status)) wrong.push({ path, answer })
  owed.delete(path)
  const isPending = answer.headers.get('x-read-model') === 'pending'
  if (isPending) {
    seen.pending++
    owed.set(path, written)
  }
  for (const position of isPending ? [positionOf(answer)] : [null, positionOf(answer)]) {
    for (const address of [path, list]) {
      const read = await get(address, position)
      if (shows(written, read)) seen.equal++
      else if (position !== null && read.status === 503 && read.headers.get('retry-after') === '1') seen.behind++
      else wrong.push({ address, position, written: answer.body, read: read.body })
    }
  }
}

async function startProjector (t: Test): Promise<Ringledger> {
  const projector = ringledger(t, ['projector'], projectorEnv)
  await projector.says(listeningUrl)
  return projector
}

async function kill (projector: Ringledger): Promise<void> {
  projector.signal('SIGKILL')
  await projector.ended
  // As if four seconds had passed: a lease of the dead would only make the test longer.
  await pool.query("UPDATE ledger.leases SET expires_at = '-infinity' WHERE name LIKE 'projection %'")
}

/** The projector cannot commit for a while, as behind a slow disk. */
const holdUp = (name: string) =>
  pool.query(`BEGIN; SELECT FROM read_model.${name}_checkpoint FOR UPDATE; SELECT pg_sleep(0.4); COMMIT`)

t.test('what an answer says is what reads say, or it says that it is pending', async (t) => {
  const isCaughtUp = () => eventually(async () => !(await createAssistant('level')).answer.headers.has('x-read-model'))
  const goneOn = async (writes: number) => await eventually(() => seen.writes >= writes, 60_000)
  let projector = await startProjector(t)
  await isCaughtUp()
  let isOver = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    const mine = await createAssistant(`own.${writer}.`)
    for (let round = 0; !isOver; round++) {
      await readBack(await update(mine.path, `own.${writer}.${round}.`))
      await readBack(await createLead(numberOf(writer * 10_000 + round)))
    }
  })
  for (let incident = 1; incident <= 3; incident++) {
    await goneOn(incident * enough / 4)
    await holdUp(incident % 2 ? 'assistants' : 'leads')
    await kill(projector)
    projector = await startProjector(t)
    await isCaughtUp()
    if (incident === 2) {
      t.equal((await run(t, ['projections', 'replay', 'assistants'], projectorEnv)).code, 0, 'assistants are replayed')
    }
  }
  await goneOn(enough)
  isOver = true
  await Promise.all(writers)
  t.strictSame(wrong.slice(0, 3), [])
  t.ok(seen.pending > 0 && seen.behind > 0 && seen.equal > enough, JSON.stringify(seen))
  for (const written of owed.values()) {
    const read = await eventually(async () => {
      const answer = await get(written.path, positionOf(written.answer))
      return answer.status === 200 && answer
    })
    t.ok(shows(written, read), `${written.path} is read as it was answered`)
  }
  await kill(projector)
})
