// One person is asked for again while their erasure runs: under its Idempotency-Key it is the same erasure, and what an
// operator begins is another one. All end, and nothing of the person is left.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { personRequestStream } from '../../../src/features/persons/events.js'
import { secrets } from '../../support/auth/secrets.js'
import { eventually } from '../../support/eventually.js'
import { dispatching, interleave, pointsOf, type Work, pairs, type Pair } from './pairs.js'
import { workOn } from '../../support/persons/erasing.js'
import { hasNothingOf, toldOf } from '../../support/persons/persons.js'
import { dataDir, run } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'

t.setTimeout(600_000)
const service = await testService(t)
const { call, config, parts, parts: { pool }, urls } = service
const told = await toldOf(t, service)
const log = { debug () {}, info () {}, warn () {}, error () {} }
dispatching(t, service)
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }

const pass = () => {}

async function person (): Promise<Pair & { phone_number: string }> {
  const pair = await pairs['who are one person, asked for twice']?.(told)
  const [named] = pair?.both ?? []
  if (!pair || !named) throw new Error('there is one')
  return { ...pair, phone_number: named.phone_number }
}

/** @returns the request that it is answered; while another one with the key is handled, it is to be sent again */
const ask = (phone_number: string, key: string = randomUUID()): Promise<string> => eventually(async () => {
  const headers = { 'idempotency-key': key }
  const { status, body } = await call('POST', '/user/person/erase', { phone_number }, { headers })
  if (status !== 202 && status !== 409) throw new Error(`${status} ${JSON.stringify(body)}`)
  return status === 202 && body.data.id
})

const workOf = (id: string): Work => (pass) => workOn({ config, connections: parts, log, pass, withinMs: 60_000 }, id)

const requests = async (): Promise<string[]> => (await pool.query<{ id: string }>(
  "SELECT id FROM ledger.background_requests WHERE kind = 'person-erasure'")).rows.map(({ id }) => id)

/** Nobody else asks meanwhile. @returns those that have come during the work */
async function begunIn (work: () => Promise<unknown>): Promise<string[]> {
  const before = await requests()
  await work()
  return (await requests()).filter((id) => !before.includes(id))
}

async function areCompleted (t: Test, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    t.strictSame(await told.sent.typesOf(personRequestStream(id)), ['PersonRequested', 'PersonRequestCompleted'], id)
  }
}

t.test('twice at once under one key, and again once it has ended, it is one erasure', async (t) => {
  const { phone_number, isErased } = await person()
  const key = randomUUID()
  const answers: string[] = []
  const begun = await begunIn(async () => {
    answers.push(...await Promise.all([ask(phone_number, key), ask(phone_number, key)]))
    await Promise.all(answers.map((id) => workOf(id)(pass)))
    answers.push(await ask(phone_number, key))
  })
  t.equal(begun.length, 1)
  t.strictSame([...new Set(answers)], begun, 'all are answered the same request')
  await isErased(t)
  await areCompleted(t, begun)
  await hasNothingOf(t, service, phone_number)
})

async function byCommand (t: Test, phone_number: string): Promise<void> {
  const { code, stdout, stderr } = await run(t, ['person', 'erase', '--user', '1', phone_number], env)
  t.match({ code, stdout }, { code: 0, stdout: /erased/ }, stderr)
}

/** @param together the work on the one that was asked for over HTTP, and the operator's command */
async function areBoth (t: Test, together: (work: Work, command: Work) => Promise<unknown>): Promise<void> {
  const { phone_number, isErased } = await person()
  const begun = await begunIn(async () => {
    const id = await ask(phone_number)
    await together(workOf(id), () => byCommand(t, phone_number))
  })
  t.equal(begun.length, 2)
  await isErased(t)
  await areCompleted(t, begun)
  await hasNothingOf(t, service, phone_number)
}

t.test('by an operator while a request runs', async (t) => {
  await areBoth(t, (work, command) => Promise.all([work(pass), command(pass)]))
})

t.test('by an operator, from the beginning to the end, while a request stands still behind one of its steps', async (t) => {
  const { phone_number } = await person()
  const points = await pointsOf(workOf(await ask(phone_number)))
  const steps = points.flatMap((at, nth) => at.startsWith('after what is kept') ? [nth + 1] : [])
  for (const first of steps) {
    t.comment(`behind ${first} of ${points.length} points`)
    await areBoth(t, (work, command) => interleave([work, command], { first, second: undefined, together: false }))
  }
})
