// Who reads the log as it grows asks nobody for keys.
import t from 'tap'
import { EventLog, noStream, type Streams } from '../../src/log/event-log.js'
import { openPool } from '../../src/postgres/pool.js'
import { keyTrustedMs, PersonKeys } from '../../src/privacy/person-keys.js'
import { personCodec } from '../../src/privacy/events.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { nextEvents, until } from '../log/following.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const nowhere = openPool('postgres://127.0.0.1:1/none', { applicationName: 'test', onError: () => {} })
t.teardown(() => nowhere.end())

const secretKeys = { current: Buffer.alloc(32, 'secret'), previous: [] }
const digest = (text: string) => text.replaceAll(/[-+]/g, '')

/** A process without a ledger. `through` is how it reaches the log. */
function processOf (through: Streams = streams) {
  const keys = new PersonKeys({ pool: nowhere, streams: through, secretKeys, digest })
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

t.test('who takes events as they are stored gets them sealed, without any key', async (t) => {
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
