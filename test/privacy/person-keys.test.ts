// One key a person, whatever comes at once; erased for good; and never taken for erased when it only cannot be had.
import t from 'tap'
import { personKeyStream } from '../../src/domain/sealed.js'
import { EventStoreUnavailable } from '../../src/log/errors.js'
import { EventLog, type Streams, noStream } from '../../src/log/event-log.js'
import { openPool } from '../../src/postgres/pool.js'
import { PersonKeys, PersonKeyUnreadable, keyTrustedMs } from '../../src/privacy/person-keys.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { personCodec } from '../../src/privacy/events.js'
import { nextEvents, until } from '../log/following.js'

const { pool, postgres } = await scratchLedger(t)
const { connection } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
const [former, secret] = [Buffer.alloc(32, 'former'), Buffer.alloc(32, 'secret')]

const digest = (text: string) => text.replaceAll(/[-+]/g, '')

const nowhere = openPool('postgres://127.0.0.1:1/none', { applicationName: 'test', onError: () => {} })
t.teardown(() => nowhere.end())

/** Another process: nothing is in its memory. */
interface Process { current?: Buffer, previous?: Buffer[], through?: Streams, ledger?: typeof pool }
function keysOf (
  { current = secret, previous = [], through = streams, ledger = pool }: Process = {}
): PersonKeys {
  return new PersonKeys({
    pool: ledger, streams: through, secretKeys: { current, previous }, digest
  })
}

let persons = 0
const somebody = () => {
  const number = `+1555${++persons}`
  return { number, person: `user-${digest(number)}` }
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
  const { person } = somebody()
  const make = async () => (await keysOf().toSealFor([person])).get(person)
  const made = await Promise.all(Array.from({ length: 5 }, make))
  t.ok(made[0])
  for (const key of made) t.strictSame(key, made[0])
  t.equal((await streams.read(personKeyStream(person))).length, 1)
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

t.test('the key itself is nowhere in the log, and its cache in no backup and on no standby', async (t) => {
  const { key, person } = await keyFor(keysOf(), somebody().person)
  const stored = JSON.stringify((await streams.read(personKeyStream(person))).map(({ data }) => data))
  for (const encoding of ['hex', 'base64', 'base64url'] as const) t.notOk(stored.includes(key.toString(encoding)))
  t.same((await pool.query("SELECT relpersistence FROM pg_class WHERE oid = 'ledger.person_keys'::regclass")).rows, [{ relpersistence: 'u' }])
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

t.test('an erased stream ends with an event without the key, as a scavenge keeps the last one', async (t) => {
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
  t.strictSame(await openIn(keysOf({ ledger: nowhere }), made), made.key, 'the log has it when the ledger does not answer')
})

/** A process without a ledger. `through` is how it reaches the log. */
function processOf (through: Streams = streams) {
  const keys = keysOf({ ledger: nowhere, through })
  const sealing = new EventLog(connection)
  sealing.codec = personCodec(keys, digest)
  return { keys, streams: sealing }
}

/** Every look at the log for a key fails. */
const deaf: Streams = {
  ...streams,
  last: async () => { throw new Error('the log was asked') },
  read: async () => { throw new Error('the log was asked') }
}

let count = 0
const entry = (number: string) => ({
  id: crypto.randomUUID(),
  type: 'PhoneNumberBlacklisted',
  data: { id: ++count, user_id: '1', phone_number: number, reason: 'asked', created_at: '2026-01-01T00:00:00.000Z' },
  metadata: {}
})

t.test('a key that was just made passes before what is sealed under it, which every follower opens', async (t) => {
  const after = await streams.head()
  const [writer, reader] = [processOf(), processOf(deaf)]
  const followed = reader.streams.follow({ after, eventTypes: ['PhoneNumberBlacklisted'], signal: until(t).signal })
  for (const number of ['+15551230001', '+15551230002']) {
    const arriving = nextEvents(followed)
    await writer.streams.append(`blacklist-1-${number.slice(1)}`, [entry(number)], noStream)
    t.match((await arriving).events, [{ type: 'PhoneNumberBlacklisted', data: { phone_number: number } }])
  }
})

t.test('a reader that takes events as they are stored gets them sealed, without any key', async (t) => {
  const after = await streams.head()
  const eventTypes = ['PhoneNumberBlacklisted']
  const options = { after, eventTypes, signal: until(t).signal }
  const arriving = nextEvents(processOf(deaf).streams.followStored(options))
  await processOf().streams.append('blacklist-1-15551230009', [entry('+15551230009')], noStream)
  const { events: [event] } = await arriving
  t.match(event, { type: 'PhoneNumberBlacklisted', data: { sealed: Object, phone_number: undefined } })
})

t.test('a key in the log that was made long ago is looked at again: it may be erased by now', async (t) => {
  const person = '1-15551230003'
  const { keyId } = [...(await processOf().keys.toSealFor([person])).values()][0] ?? { keyId: '' }
  const made = await streams.read(`person-${person}`)
  const [known, unknown] = [processOf(deaf).keys, processOf(deaf).keys]
  known.learn(made)
  t.equal((await known.toOpen([{ person, keyId }])).size, 1)
  unknown.learn(made.map((event) => ({ ...event, created: new Date(Date.now() - keyTrustedMs) })))
  await t.rejects(unknown.toOpen([{ person, keyId }]), /the log was asked/)
})

t.test('a key that was erased right behind its making is not taken from the log', async (t) => {
  const { keys } = processOf()
  const person = '1-15551230006'
  const { keyId } = [...(await keys.toSealFor([person])).values()][0] ?? { keyId: '' }
  const [made] = await streams.read(`person-${person}`)
  const erased = { ...made, type: 'PersonKeyErased', data: { key_id: keyId, erased_at: '2026-01-01T00:00:00.000Z' } }
  const reader = processOf(deaf).keys
  if (made) reader.learn([made, { ...made, ...erased }])
  t.strictSame((await reader.toOpen([{ person, keyId }])).size, 0)
})
