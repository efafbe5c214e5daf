// `ringledger event-store scavenge`: beside a running store, and not on a real server.
import t from 'tap'
import { collect } from '@ringledger/embedded-event-store/testing'
import { event } from '@ringledger/event-transfer/testing'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { type Environment, runWarm } from '../../support/ringledger.js'

const scavenge = (env: Environment, ...more: string[]) => runWarm(['event-store', 'scavenge', ...more], env)

t.test('scavenge says what it removed, in words and for programs', async (t) => {
  const { client, store: { url } } = await scratchEventStore(t)
  await client.appendToStream('a', [event(), event(), event()])
  await client.setStreamMetadata('a', { truncateBefore: 2 })
  const { code, stdout, stderr } = await scavenge({ EVENTSTORE_URL: url })
  t.equal(code, 0, stderr)
  t.match(stdout, /^Removed 2 events with \d+ bytes of data and metadata\.\n$/)
  t.same((await collect(client.readStream('a'))).map(({ event }) => event?.revision), [2n])
  const again = await scavenge({ EVENTSTORE_URL: url }, '--json')
  t.match(JSON.parse(again.stdout), { scavenge_id: /^[0-9a-f-]{36}$/, events: 0, bytes: 0 })
})

t.test('a real server is its operator\'s: it says how, and fails', async (t) => {
  const { client, store: { url } } = await scratchEventStore(t)
  await client.tombstoneStream('$embedded-event-store') // what only an embedded log has
  const { code, stdout, stderr } = await scavenge({ EVENTSTORE_URL: url })
  t.same([code, stdout], [1, ''])
  t.match(stderr, /leads to a real server, whose operator scavenges it: .*\/admin\/scavenge/)
})
