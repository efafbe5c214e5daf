// A caller reads what it wrote: over thousands of writes, while a projector is delayed, killed, restarted and replayed.
import t, { type Test } from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { type Ringledger, dataDir, ringledger, run, listeningUrl } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'
import { secrets } from '../../support/auth/secrets.js'
import { type Answer, type Call, caller } from '../../support/running-service.js'

// Writes through one process that are read through another, and what the reads showed of them.
/** A thing that was written: where it is read, and in which list it is the only one. */
interface Written { path: string, list: string, answer: Answer }

const isPending = ({ headers }: Answer) => headers.get('x-read-model') === 'pending'
const positionOf = ({ headers }: Answer) => headers.get('x-read-position')

/** Of a read assistant only its summary was written down; a lead is read as it was answered. */
function shows ({ answer: { body: { data: written } } }: Written, { status, body }: Answer): boolean {
  const [read, isOnly] = Array.isArray(body.data) ? [body.data[0], body.meta.total === 1] : [body.data, true]
  return status === 200 && isOnly && read !== undefined &&
    Object.keys(written).every((key) => JSON.stringify(read[key]) === JSON.stringify(written[key]))
}

class OwnWrites {
  readonly seen = { writes: 0, pending: 0, equal: 0, behind: 0 }
  readonly wrong: object[] = []
  /** Answers that reads did not show yet and that no later write replaced. */
  readonly owed = new Map<string, Written>()
  readonly #writer: Call
  readonly #reader: Call
  readonly #token: string

  /** Reads go to another process, so that nothing is right only because the writing one remembers it. */
  constructor (urls: { write: string, read: string }, token: string) {
    this.#writer = caller(urls.write)
    this.#reader = caller(urls.read)
    this.#token = token
  }

  get (path: string, position?: string | null): Promise<Answer> {
    return this.#reader('GET', path, {
      token: this.#token, headers: position ? { 'x-read-position': position } : {}
    })
  }

  write (method: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#writer(method, path, { token: this.#token, body, headers })
  }

  async createAssistant (name: string): Promise<Written> {
    const answer = await this.write('POST', '/user/assistant', newAssistant({ assistant_name: name }))
    return { path: `/user/assistant/${answer.body.data.id}`, list: `/user/assistants?name=${name}`, answer }
  }

  async update (path: string, name: string): Promise<Written> {
    const changes = { assistant_name: name, calls_direction: name.length % 2 ? 'make' : 'receive' }
    return { path, list: `/user/assistants?name=${name}`, answer: await this.write('PUT', path, changes) }
  }

  async createLead (phone_number: string): Promise<Written> {
    const answer = await this.write('POST', '/user/lead', newLead({
      phone_number,
      variables: { customer_name: 'Ada', deep: [1.5] },
      secondary_contacts: [{ phone_number: '+16660000001' }]
    }))
    const list = `/user/leads?campaign_id=1&phone_number=${phone_number.slice(1)}`
    return { path: `/user/lead/${answer.body.data.id}`, list, answer }
  }

  /** What is not pending shows in the very next read; with its position it shows, or the read is refused. */
  async readBack (written: Written, withLists: boolean): Promise<void> {
    const { path, list, answer } = written
    this.seen.writes++
    if (![200, 201].includes(answer.status)) this.wrong.push({ path, answer })
    this.owed.delete(path)
    if (isPending(answer)) {
      this.seen.pending++
      this.owed.set(path, written)
    } else {
      for (const address of withLists ? [path, list] : [path]) await this.#expect(written, address, false)
    }
    for (const address of withLists ? [list, path] : [path]) await this.#expect(written, address, true)
  }

  async #expect (written: Written, address: string, withPosition: boolean): Promise<void> {
    const read = await this.get(address, withPosition ? positionOf(written.answer) : null)
    if (shows(written, read)) this.seen.equal++
    else if (withPosition && read.status === 503 && read.headers.get('retry-after') === '1') this.seen.behind++
    else this.wrong.push({ address, withPosition, written: written.answer.body, read: read.body })
  }

  /** What was pending turns out as it was answered. */
  async shownAtLast (t: Test, written: Written): Promise<void> {
    const read = await eventually(async () => {
      const answer = await this.get(written.path, positionOf(written.answer))
      return answer.status === 200 && answer
    })
    if (!shows(written, read)) {
      t.fail(`${written.path} was answered differently`, { written: written.answer.body, read: read.body })
    }
  }
}

const waitMs = 300
const enough = 2_000
const folder = dataDir(t)
const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: String(waitMs) })
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
const own = new OwnWrites({ write: service.url, read: another.url }, await service.token('1'))

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

const numberOf = (writer: number, round: number) =>
  `+1777${String(writer).padStart(3, '0')}${String(round).padStart(5, '0')}`

const isCaughtUp = () => eventually(async () => !isPending((await own.createAssistant('level')).answer))

t.test('what an answer says is what reads say, or it says that it is pending', async (t) => {
  let projector = await startProjector(t)
  await isCaughtUp()
  let isOver = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    const mine = await own.createAssistant(`own.${writer}.`)
    await own.readBack(mine, true)
    for (let round = 0; !isOver; round++) {
      await own.readBack(await own.update(mine.path, `own.${writer}.${round}.`), round % 8 === 0)
      await own.readBack(await own.createLead(numberOf(writer, round)), round % 8 === 4)
      if (round % 4 === 1) await own.readBack(await own.createAssistant(`new.${writer}.${round}.`), true)
    }
  })
  const goneOn = async (writes: number) => await eventually(() => own.seen.writes >= writes, 60_000)
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
  t.strictSame(own.wrong.slice(0, 3), [])
  const { seen } = own
  t.ok(seen.pending > 0 && seen.behind > 0 && seen.equal > enough, JSON.stringify(seen))
  for (const written of own.owed.values()) await own.shownAtLast(t, written)
  await kill(projector)
})
