// Who lacks the keys of many persons takes them from the log, as a replay beside an empty ledger does.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { personKeyStream } from '../../src/features/persons/events.js'
import { noStream, EventLog, type Streams } from '../../src/log/event-log.js'
import { PersonKeys, aFewAtOnce } from '../../src/privacy/person-keys.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { connection } = await scratchEventStore(t, {})
const { pool } = await scratchLedger(t)
const streams = new EventLog(connection)
const secretKeys = { current: Buffer.alloc(32, 'secret'), previous: [] }

/** Another process: nothing is in its memory. `asked` counts its looks at single streams. */
function process () {
  const looks = { asked: 0 }
  const last: Streams['last'] = async (stream) => {
    looks.asked += 1
    return await streams.last(stream)
  }
  const keys = new PersonKeys({ pool, streams: { ...streams, last }, secretKeys, digest: (text) => text })
  return { keys, looks }
}

const maker = process().keys
const count = 150
const persons = Array.from({ length: count }, (_, index) => `user-${index}`)
const made = [...(await maker.toSealFor(persons)).values()]
const [erased, ...others] = made

t.test('keys that the ledger has lost are read person by person, and an erased one is none', async (t) => {
  await maker.erase('user', '0')
  await streams.append(personKeyStream('user-x'), [
    { id: crypto.randomUUID(), type: 'PersonKeyCreated', data: { key_id: 'nonsense' }, metadata: {} }
  ], noStream)
  await eventually(async () => (await pool.query('SELECT FROM ledger.person_keys')).rowCount === count) // all are noted
  await pool.query('DELETE FROM ledger.person_keys')
  const { keys, looks } = process()
  const opened = await keys.toOpen(made)
  t.equal(looks.asked, count)
  t.equal(opened.size, count - 1)
  t.notOk(opened.has(erased?.keyId ?? ''))
  for (const { keyId, key } of others) t.strictSame(opened.get(keyId), key)
  await eventually(async () => (await pool.query('SELECT FROM ledger.person_keys')).rowCount === count) // what was read
  const { rows } = await pool.query('SELECT wrapped FROM ledger.person_keys WHERE key_id = $1', [erased?.keyId])
  t.strictSame(rows, [{ wrapped: null }], 'the erased key is not written down')
})

t.test('keys that the ledger has lost once more are not taken for erased', async (t) => {
  const { keys } = process()
  const some = others.slice(0, 110)
  const more = [...(await process().keys.toSealFor(persons.map((person) => `${person}x`))).values()]
  const ids = more.map(({ keyId }) => keyId)
  await eventually(async () =>
    (await pool.query('SELECT FROM ledger.person_keys WHERE key_id = ANY ($1)', [ids])).rowCount === ids.length)
  for (const names of [some, more]) {
    await pool.query('DELETE FROM ledger.person_keys')
    t.equal((await keys.toOpen(names)).size, names.length)
  }
})

t.test('keys that nobody can note are read, too', async (t) => {
  await pool.query('ALTER TABLE ledger.person_keys RENAME TO away')
  const { keys, looks } = process()
  t.equal((await keys.toOpen(others)).size, others.length)
  t.equal(looks.asked, others.length)
})

t.test('after an error no further person is worked on', async (t) => {
  let begun = 0
  let end = () => {}
  const others = new Promise<void>((resolve) => { end = resolve })
  await t.rejects(aFewAtOnce(persons, async (person) => {
    begun += 1
    if (person === persons[0]) throw new Error('the store is away')
    await others
  }), { message: 'the store is away' })
  end()
  await nextTurn()
  t.ok(begun <= 33, `${begun} of ${persons.length}`)
})
