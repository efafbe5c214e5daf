// One key a person, whatever comes at once; erased for good; and never taken for erased when it only cannot be had.
import t from 'tap'
import { personKeyStream } from '../../src/features/persons/events.js'
import { EventStoreUnavailable } from '../../src/log/errors.js'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { openPool } from '../../src/postgres/pool.js'
import { PersonKeys, PersonKeyUnreadable } from '../../src/privacy/person-keys.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { connection } = await scratchEventStore(t, {})
const { pool } = await scratchLedger(t)
const streams = new EventLog(connection)
const [former, secret] = [Buffer.alloc(32, 'former'), Buffer.alloc(32, 'secret')]

/** Another process: nothing is in its memory. */
interface Process { current?: Buffer, previous?: Buffer[], through?: Streams, ledger?: typeof pool }
function keysOf (
  { current = secret, previous = [], through = streams, ledger = pool }: Process = {}
): PersonKeys {
  return new PersonKeys({
    pool: ledger, streams: through, secretKeys: { current, previous }, digest: (text) => text.replaceAll('-', '_')
  })
}

let persons = 0
const somebody = () => {
  const number = `+1555${++persons}`
  return { number, person: `user-${number}` }
}
/** Once it is noted in the ledger, for which nobody else waits. */
const keyFor = async (keys: PersonKeys, person: string) => {
  const key = (await keys.toSealFor([person])).get(person)
  if (!key) throw new Error('no key')
  await eventually(async () => (await pool.query('SELECT FROM ledger.person_keys WHERE key_id = $1', [key.keyId])).rowCount === 1)
  return key
}
const forgetLedger = () => pool.query('DELETE FROM ledger.person_keys')
const openIn = async (keys: PersonKeys, { person, keyId }: { person: string, keyId: string }) =>
  (await keys.toOpen([{ person, keyId }])).get(keyId)

t.test('processes that make the key of one person at once agree on one', async (t) => {
  for (let round = 0; round < 10; round++) {
    const { person } = somebody()
    const made = await Promise.all(Array.from({ length: 5 }, () => keyFor(keysOf(), person)))
    t.equal(new Set(made.map(({ keyId }) => keyId)).size, 1)
    t.equal(new Set(made.map(({ key }) => key.toString('hex'))).size, 1)
    t.equal((await streams.read(personKeyStream(person))).length, 1)
  }
})

t.test('a process without the key finds it: in the ledger, and without that in the log', async (t) => {
  const made = await keyFor(keysOf(), somebody().person)
  t.strictSame(await openIn(keysOf(), made), made.key)
  await forgetLedger()
  t.strictSame(await openIn(keysOf(), made), made.key)
  await forgetLedger()
  t.strictSame(await keyFor(keysOf(), made.person), made)
  t.strictSame((await keysOf().toSealFor([made.person], true)).get(made.person), made, 'also where it is taken for new')
})

t.test('the key itself is nowhere in the log', async (t) => {
  const { key, person } = await keyFor(keysOf(), somebody().person)
  const stored = JSON.stringify((await streams.read(personKeyStream(person))).map(({ data }) => data))
  for (const encoding of ['hex', 'base64', 'base64url'] as const) t.notOk(stored.includes(key.toString(encoding)))
})

t.test('an erased key is gone in every process, also where nothing is cached, and the next one is another', async (t) => {
  const { number, person } = somebody()
  const [maker, other] = [keysOf(), keysOf()]
  const before = await keyFor(maker, person)
  t.equal(await maker.erase('user', number), true)
  t.equal(await openIn(maker, before), undefined)
  t.equal(await openIn(other, before), undefined)
  await forgetLedger()
  t.equal(await openIn(keysOf(), before), undefined)
  const after = await keyFor(other, person)
  t.not(after.keyId, before.keyId)
  t.equal(await openIn(keysOf(), before), undefined, 'though there is a key again')
  t.strictSame(await openIn(keysOf(), after), after.key)
  t.match((await streams.read(personKeyStream(person))).map(({ type }) => type), ['PersonKeyCreated'], 'the former events are hidden')
})

t.test('what is left of the stream ends with an event without the key, as a scavenge keeps the last one', async (t) => {
  const { number, person } = somebody()
  const deleted: bigint[] = []
  const through: Streams = { ...streams, delete: async (_stream, expected) => { deleted.push(expected) } }
  const keys = keysOf({ through })
  const { keyId } = await keyFor(keys, person)
  await keys.erase('user', number)
  t.match(await streams.last(personKeyStream(person)), { type: 'PersonKeyErased', revision: 1n, data: { key_id: keyId } })
  t.strictSame(deleted, [1n])
})

t.test('an erasure that ended before the delete is over all the same, and a new key ends it', async (t) => {
  const { number, person } = somebody()
  const through: Streams = { ...streams, delete: async () => { throw new EventStoreUnavailable('down') } }
  const dying = keysOf({ through })
  const before = await keyFor(dying, person)
  await t.rejects(dying.erase('user', number), EventStoreUnavailable)
  await forgetLedger()
  t.equal(await openIn(keysOf(), before), undefined)
  const after = await keyFor(keysOf(), person)
  t.not(after.keyId, before.keyId)
  t.equal(await keysOf().erase('user', number), true)
  t.equal(await openIn(keysOf(), after), undefined)
})

t.test('a late note of an erased key does not bring it back', async (t) => {
  const { number, person } = somebody()
  const made = await keyFor(keysOf(), person)
  await forgetLedger()
  await keysOf().erase('user', number)
  await keysOf().toOpen([{ person, keyId: made.keyId }])
  await pool.query("INSERT INTO ledger.person_keys VALUES ($1, $2, 'x', '') ON CONFLICT DO NOTHING", [made.keyId, person])
  t.equal(await openIn(keysOf(), made), undefined)
})

t.test('a former SECRET_KEY still opens, and without it the refusal says what to set', async (t) => {
  const made = await keyFor(keysOf({ current: former }), somebody().person)
  t.strictSame(await openIn(keysOf({ previous: [former] }), made), made.key)
  for (const forget of [async () => {}, forgetLedger]) {
    await forget()
    await t.rejects(openIn(keysOf(), made), { name: 'PersonKeyUnreadable', message: /another SECRET_KEY.*SECRET_KEY_PREVIOUS/ })
    await t.rejects(keyFor(keysOf(), made.person), PersonKeyUnreadable)
  }
  t.strictSame(await openIn(keysOf({ previous: [former] }), made), made.key, 'it was not taken for erased')
})

t.test('a key that cannot be read now is not taken for erased', async (t) => {
  const made = await keyFor(keysOf(), somebody().person)
  await forgetLedger()
  const down = async () => { throw new EventStoreUnavailable('down') }
  await t.rejects(openIn(keysOf({ through: { ...streams, last: down, read: down } }), made), EventStoreUnavailable)
  t.strictSame(await openIn(keysOf(), made), made.key)
  const away = openPool('postgres://127.0.0.1:1/none', { applicationName: 'test', onError: () => {} })
  t.strictSame(await openIn(keysOf({ ledger: away }), made), made.key, 'the log has it when the ledger does not answer')
})

t.test('others who append to the stream of a person do not end the key', async (t) => {
  const made = await keyFor(keysOf(), somebody().person)
  const foreign = { id: crypto.randomUUID(), type: 'SomethingElse', data: {}, metadata: {} }
  await streams.append(personKeyStream(made.person), [foreign], 0n)
  await forgetLedger()
  t.strictSame(await openIn(keysOf(), made), made.key)
})
