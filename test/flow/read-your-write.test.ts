// Whoever wrote reads it: over thousands of writes, while the projector is held up, killed, restarted and replayed.
import t, { type Test } from 'tap'
import { newLead } from '../support/bodies.js'
import { amount } from '../support/chaos.js'
import { eventually } from '../support/eventually.js'
import { dataDir, ringledger, run, type Ringledger } from '../support/ringledger.js'
import { newAssistant, testService } from '../support/service.js'
import { secrets } from '../support/secrets.js'
import type { Answer } from '../support/answer.js'

const waitMs = 300
const enough = amount({ short: 400, whole: 2_000 })
const folder = dataDir(t)
const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: String(waitMs) })
const another = await service.start(['api'])
const { pool } = service.parts
const projectorEnv = {
  ...secrets, DATABASE_URL: service.urls.databaseUrl, EVENTSTORE_URL: service.urls.eventStoreUrl, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn'
}
const authorization = `Bearer ${await service.token('1')}`

/** A thing that was written: where it is read, and in which list it is the only one. */
interface Written { path: string, list: string, answer: Answer }

const seen = { writes: 0, pending: 0, equal: 0, behind: 0 }
const wrong: object[] = []
/** Answers that reads did not show yet and that no later write replaced. */
const owed = new Map<string, Written>()

async function send (
  url: string, method: string, path: string, { body, headers }: { body?: object, headers?: Record<string, string> } = {}
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization, ...(body && { 'content-type': 'application/json' }), ...headers
    },
    ...(body && { body: JSON.stringify(body) })
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Reads through the other process, so that nothing is right only because the writing one remembers it. */
const get = (path: string, position?: string | null) =>
  send(another.url, 'GET', path, { headers: position ? { 'x-read-position': position } : {} })
const write = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
  send(service.url, method, path, { body, headers })
const isPending = ({ headers }: Answer) => headers.get('x-read-model') === 'pending'
const positionOf = ({ headers }: Answer) => headers.get('x-read-position')

async function createAssistant (name: string): Promise<Written> {
  const answer = await write('POST', '/user/assistant', { ...newAssistant, assistant_name: name })
  return { path: `/user/assistant/${answer.body.data.id}`, list: `/user/assistants?name=${name}`, answer }
}

async function update (path: string, name: string): Promise<Written> {
  return {
    path,
    list: `/user/assistants?name=${name}`,
    answer: await write('PUT', path, { assistant_name: name, calls_direction: name.length % 2 ? 'make' : 'receive' })
  }
}

async function createLead (phone_number: string): Promise<Written> {
  const answer = await write('POST', '/user/lead', newLead({
    phone_number,
    variables: { customer_name: 'Ada', deep: [1.5] },
    secondary_contacts: [{ phone_number: '+16660000001' }]
  }))
  return {
    path: `/user/lead/${answer.body.data.id}`,
    list: `/user/leads?campaign_id=1&phone_number=${phone_number.slice(1)}`,
    answer
  }
}

/** Of a read assistant only its summary was written down; a lead is read as it was answered. */
function shows ({ answer: { body: { data: written } } }: Written, { status, body }: Answer): boolean {
  const [read, isOnly] = Array.isArray(body.data) ? [body.data[0], body.meta.total === 1] : [body.data, true]
  return status === 200 && isOnly && read !== undefined &&
    Object.keys(written).every((key) => JSON.stringify(read[key]) === JSON.stringify(written[key]))
}

/** What is not pending shows in the very next read; with its position it shows, or the read is refused. */
async function readBack (written: Written, withLists: boolean): Promise<void> {
  const { path, list, answer } = written
  seen.writes++
  if (![200, 201].includes(answer.status)) wrong.push({ path, answer })
  owed.delete(path)
  if (isPending(answer)) {
    seen.pending++
    owed.set(path, written)
  } else {
    for (const address of withLists ? [path, list] : [path]) await expect(written, address, false)
  }
  for (const address of withLists ? [list, path] : [path]) await expect(written, address, true)
}

async function expect (written: Written, address: string, withPosition: boolean): Promise<void> {
  const read = await get(address, withPosition ? positionOf(written.answer) : null)
  if (shows(written, read)) seen.equal++
  else if (withPosition && read.status === 503 && read.headers.get('retry-after') === '1') seen.behind++
  else wrong.push({ address, withPosition, written: written.answer.body, read: read.body })
}

/** Updates of one assistant by many: a read is at the revision of the write, or at a later one. */
const observed: Array<{ revision: number, name: string }> = []
async function updateShared (path: string, name: string): Promise<void> {
  const { answer } = await update(path, name)
  const revision = revisionOf(answer)
  seen.writes++
  if (isPending(answer)) seen.pending++
  for (const position of isPending(answer) ? [positionOf(answer)] : [null, positionOf(answer)]) {
    const read = await get(path, position)
    if (position && read.status === 503) seen.behind++
    else if (read.status !== 200 || revisionOf(read) < revision) wrong.push({ path, revision, read: read.body })
    else observed.push({ revision: revisionOf(read), name: read.body.data.name })
  }
}

const revisionOf = ({ headers }: Answer) => Number(headers.get('etag')?.slice(1, -1))

async function startProjector (t: Test): Promise<Ringledger> {
  const projector = ringledger(t, ['projector'], projectorEnv)
  await projector.says((_, stderr) => /projector is listening on (\S+)/.exec(stderr)?.[1])
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

const isCaughtUp = () => eventually(async () => !isPending((await createAssistant('level')).answer))

t.test('what an answer says is what reads say, or it says that it is pending', async (t) => {
  let projector = await startProjector(t)
  await isCaughtUp()
  const shared = (await createAssistant('shared')).path
  let isOver = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    const own = await createAssistant(`own.${writer}.`)
    await readBack(own, true)
    for (let round = 0; !isOver; round++) {
      await readBack(await update(own.path, `own.${writer}.${round}.`), round % 8 === 0)
      await readBack(
        await createLead(`+1777${String(writer).padStart(3, '0')}${String(round).padStart(5, '0')}`), round % 8 === 4
      )
      if (round % 4 === 1) await readBack(await createAssistant(`new.${writer}.${round}.`), true)
      if (round % 4 === 3) await updateShared(shared, `shared.${writer}.${round}.`)
    }
  })
  const goneOn = async (writes: number) => await eventually(() => seen.writes >= writes, 60_000)
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
  for (const written of owed.values()) await shownAtLast(t, written)
  await agreesWithHistory(t, shared)
  await kill(projector)
})

/** What was pending turns out as it was answered. */
async function shownAtLast (t: Test, written: Written): Promise<void> {
  const read = await eventually(async () => {
    const answer = await get(written.path, positionOf(written.answer))
    return answer.status === 200 && answer
  })
  if (!shows(written, read)) {
    t.fail(`${written.path} was answered differently`, { written: written.answer.body, read: read.body })
  }
}

/** No read ever showed a mixture: each name was seen at its own revision. */
async function agreesWithHistory (t: Test, path: string): Promise<void> {
  const names = new Map<number, string>()
  for (let page = 1, last = 1; page <= last; page++) {
    const { body } = await get(`${path}/history?per_page=100&page=${page}`)
    last = body.meta.last_page
    for (const { revision, changes } of body.data) {
      names.set(revision, changes.find(({ field }: { field: string }) => field === 'assistant_name').to)
    }
  }
  t.ok(observed.length > enough / 20)
  t.strictSame(observed.filter(({ revision, name }) => names.get(revision) !== name), [])
}

t.test('with the projector stopped, writes answer in time, and say that they are pending', async (t) => {
  const { path } = await createAssistant('before')
  const asked = performance.now()
  const answered: number[] = []
  const key = { 'idempotency-key': 'pending' }
  const repeated = () => write('POST', '/user/assistant', { ...newAssistant, assistant_name: 'repeated' }, key)
  const written = await Promise.all([
    ...Array.from({ length: 10 }, (_, n) =>
      [createAssistant(`pending.${n}.`), createLead(`+1888000${1000 + n}`)]).flat(),
    update(path, 'after.'),
    repeated().then((answer) => ({ path: `/user/assistant/${answer.body.data.id}`, list: '', answer }))
  ].map(async (writing) => {
    const result = await writing
    answered.push(performance.now() - asked)
    return result
  }))
  t.strictSame(new Set(written.map(({ answer }) => answer.headers.get('x-read-model'))), new Set(['pending']))
  t.ok(
    Math.min(...answered) >= waitMs && Math.max(...answered) < waitMs + 5_000,
    `after ${Math.round(Math.min(...answered))} to ${Math.round(Math.max(...answered))} ms`
  )
  t.equal(
    (await get(path, positionOf(written[0]?.answer ?? await repeated()))).status,
    503,
    'a read of it is refused rather than older'
  )
  const again = await repeated()
  t.strictSame(
    [again.headers.get('idempotent-replayed'), again.headers.get('x-read-model')],
    ['true', 'pending'],
    'so is the same answer given again'
  )
  await startProjector(t)
  for (const one of written) await shownAtLast(t, one)
  t.strictSame([(await repeated()).headers.get('x-read-model'), (await repeated()).body], [null, again.body])
})
