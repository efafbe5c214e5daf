// Which SECRET_KEYs are needed: a lost one is told at the start. And leaving a former one behind in the log: each key
// of a person is encrypted anew, whatever comes between.
import { personKeyStream } from '../../src/domain/sealed.js'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { PersonKeys, type KeyName } from '../../src/privacy/person-keys.js'
import { resealKeys, type ResealKeysOptions, refuseLostKeysAtStart } from '../../src/privacy/rewrap.js'
import { collect, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import t from 'tap'
import { keyId } from '../../src/privacy/sealed-text.js'

/** In the order in which they were in use. */
const [first, second, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]

let persons = 0
const somebodies = (count: number) => Array.from({ length: count }, () => `user-+1555${++persons}`)

const digest = (text: string) => text.replaceAll('-', '_')

const { pool, postgres } = await scratchLedger(t)
const { connection, client } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
/** Another process: nothing is in its memory. */
const keysOf = (current: Buffer, ...previous: Buffer[]) =>
  new PersonKeys({ pool, streams, secretKeys: { current, previous }, digest })
const openIn = async (keys: PersonKeys, name: KeyName) => (await keys.toOpen([name])).get(name.keyId)
const resealTo = (current: Buffer, previous: Buffer[], given: Partial<ResealKeysOptions> = {}) =>
  resealKeys({ pool, streams, secretKeys: { current, previous }, signal: new AbortController().signal, ...given })
const forgetLedger = () => pool.query('DELETE FROM ledger.person_keys')
const visible = (person: string) => streams.read(personKeyStream(person))

/** Once they are noted in the ledger, for which nobody else waits. */
async function made (current: Buffer, count = 1) {
  const names = somebodies(count)
  const keys = [...(await keysOf(current).toSealFor(names)).values()]
  const noted = () => pool.query('SELECT FROM ledger.person_keys WHERE person = ANY ($1)', [names])
  await eventually(async () => (await noted()).rowCount === count)
  return keys
}

/** All that the files of the store hold about a person, after a scavenge. */
async function stored (person: string): Promise<string> {
  await streams.scavenge()
  const events = (await collect(client.readAll())).map(({ event }) => JSON.stringify([event?.streamId, event?.data]))
  return String(events.filter((event) => event.startsWith(`["${personKeyStream(person)}"`)))
}

t.test('a lost key refuses a start and a reseal, with an empty ledger too, and nothing is changed', async (t) => {
  const [key] = await made(second)
  const start = (current: Buffer, ...previous: Buffer[]) =>
    refuseLostKeysAtStart({ pool, streams, secretKeys: { current, previous } })
  for (const forget of [async () => {}, forgetLedger]) {
    await forget()
    await t.rejects(start(third, first), { name: 'PersonKeyUnreadable', message: /SECRET_KEY_PREVIOUS/ })
    await t.rejects(resealTo(third, [first]), { name: 'PersonKeyUnreadable', message: /SECRET_KEY_PREVIOUS/ })
    await start(third, second, first)
  }
  t.match(await visible(key?.person ?? ''), [{ data: { wrapped_by: keyId(second) } }])
})

t.test('the current SECRET_KEY alone opens every person afterwards, and what the former one encrypted is gone', async (t) => {
  const keys = [...await made(first, 3), ...await made(second, 2), ...await made(third)]
  await pool.query('DELETE FROM ledger.person_keys WHERE person = $1', [keys[0]?.person])
  const shares: number[] = []
  const count = await resealTo(third, [second, first], { onProgress: (_, share) => shares.push(share) })
  t.strictSame([count, shares.at(-1)], [6, 1], 'with the one of the test before')
  for (const forget of [async () => {}, forgetLedger]) {
    await forget()
    for (const key of keys) t.strictSame(await openIn(keysOf(third), key), key.key)
  }
  for (const { person, keyId: id } of keys) {
    t.match(await visible(person), [{ type: 'PersonKeyCreated', data: { key_id: id, wrapped_by: keyId(third) } }])
    t.equal((await visible(person)).length, 1)
  }
  for (const { person } of keys.slice(0, 4)) t.notMatch(await stored(person), new RegExp(`${keyId(first)}|${keyId(second)}`))
  t.equal(await resealTo(third, [second, first]), 0, 'and again there is nothing to do')
})

/** Something happens around one call of a kind. */
type Call = 'last' | 'read' | 'append' | 'truncate'
function around (call: Call, when: 'before' | 'after', happens: () => Promise<void>): Streams {
  let isOver = false
  const once = async () => {
    if (!isOver) {
      isOver = true
      await happens()
    }
  }
  return {
    ...streams,
    async [call] (...given: never[]) {
      if (when === 'before') await once()
      const answer = await Reflect.apply(streams[call], streams, given)
      if (when === 'after') await once()
      return answer
    }
  }
}
/** The moment after one call is the moment before the next one. RACES=all tries every moment. */
const moments = [
  { call: 'append', when: 'after' }, { call: 'last', when: 'before' },
  ...(['last', 'read', 'truncate'] as const).map((call) => ({ call, when: 'after' }) as const)
] as const

for (const { call, when } of process.env.RACES === 'all' ? moments : moments.slice(0, 1)) {
  t.test(`a person who is erased ${when} the ${call} stays erased, and nothing of the key is left`, async (t) => {
    const [key] = await made(first)
    const { person = '' } = key ?? {}
    const erase = async () => { await keysOf(third, first).erase('user', person.slice('user-'.length)) }
    await resealTo(third, [first], { streams: around(call, when, erase) })
    t.strictSame(await visible(person), [])
    t.equal(key && await openIn(keysOf(third, first), key), undefined)
    await forgetLedger()
    t.equal(key && await openIn(keysOf(third, first), key), undefined)
    t.notMatch(await stored(person), 'wrapped')
    const [anew] = (await keysOf(third).toSealFor([person])).values()
    t.strictSame(anew && await openIn(keysOf(third), anew), anew?.key, 'and a new key is whole')
  })

  t.test(`a process that ends ${when} the ${call} leaves what the next one ends`, async (t) => {
    const [key] = await made(first)
    const die = async () => { throw new Error('the process ends here') }
    await t.rejects(resealTo(third, [first], { streams: around(call, when, die) }), /ends here/)
    t.strictSame(key && await openIn(keysOf(third, first), key), key?.key, 'it can be opened meanwhile')
    await resealTo(third, [first])
    t.equal((await visible(key?.person ?? '')).length, 1)
    t.strictSame(key && await openIn(keysOf(third), key), key?.key)
  })
}

t.test('two that reseal at once append each key once', async (t) => {
  const keys = await made(first, 10)
  await Promise.all([resealTo(third, [first]), resealTo(third, [first])])
  for (const { person } of keys) t.match(await visible(person), [{ revision: 1n }])
})

t.test('a ledger that is older than the log is mended, not believed', async (t) => {
  const [key] = await made(second)
  const { rows: [row] } = await pool.query('SELECT * FROM ledger.person_keys WHERE key_id = $1', [key?.keyId])
  await resealTo(third, [second, first])
  await pool.query('UPDATE ledger.person_keys SET wrapped_by = $2, wrapped = $3 WHERE key_id = $1', [row.key_id, row.wrapped_by, row.wrapped])
  await refuseLostKeysAtStart({ pool, streams, secretKeys: { current: third, previous: [] } })
  t.strictSame(key && await openIn(keysOf(third), key), key?.key)
})
