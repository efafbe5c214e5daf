// A caller reads what it wrote: over thousands of writes, while a projector is delayed, killed, restarted and replayed.
import t, { type Test } from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { isPending, OwnWrites, positionOf } from '../../support/projections/own-writes.js'
import { dataDir, ringledger, run, type Ringledger } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'
import { secrets } from '../../support/auth/secrets.js'
import { listeningUrl } from '../../support/processes/role-log.js'

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
  const shared = (await own.createAssistant('shared')).path
  let isOver = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    const mine = await own.createAssistant(`own.${writer}.`)
    await own.readBack(mine, true)
    for (let round = 0; !isOver; round++) {
      await own.readBack(await own.update(mine.path, `own.${writer}.${round}.`), round % 8 === 0)
      await own.readBack(await own.createLead(numberOf(writer, round)), round % 8 === 4)
      if (round % 4 === 1) await own.readBack(await own.createAssistant(`new.${writer}.${round}.`), true)
      if (round % 4 === 3) await own.updateShared(shared, `shared.${writer}.${round}.`)
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
  const names = await own.namesOf(shared) // no read showed a mixture: each name was seen at its own revision
  t.ok(own.observed.length > 0, 'reads of the shared one were compared')
  t.strictSame(own.observed.filter(({ revision, name }) => names.get(revision) !== name), [])
  await kill(projector)
})

t.test('with the projector stopped, writes answer in time, and say that they are pending', async (t) => {
  const { path } = await own.createAssistant('before')
  const asked = performance.now()
  const answered: number[] = []
  const key = { 'idempotency-key': 'pending' }
  const repeated = () => own.write('POST', '/user/assistant', newAssistant({ assistant_name: 'repeated' }), key)
  const written = await Promise.all([
    ...Array.from({ length: 10 }, (_, n) =>
      [own.createAssistant(`pending.${n}.`), own.createLead(`+1888000${1000 + n}`)]).flat(),
    own.update(path, 'after.'),
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
    (await own.get(path, positionOf(written[0]?.answer ?? await repeated()))).status,
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
  for (const one of written) await own.shownAtLast(t, one)
  t.strictSame([(await repeated()).headers.get('x-read-model'), (await repeated()).body], [null, again.body])
})
