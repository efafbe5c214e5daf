// What takes events away from the streams that every process needs is told, with what mends it.
import t from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { findLimitedStreams } from '../../src/recovery/same-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { event } from '@ringledger/event-transfer/testing'

t.test('limits and deletes of the streams of every log are found, and what mends each is said', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  t.strictSame(await findLimitedStreams(streams), [], 'an empty log')
  for (const stream of ['ringledger-marker', 'ringledger-settings', 'catalog-voices', 'catalog-models']) {
    await client.appendToStream(stream, [event(), event()])
  }
  t.strictSame(await findLimitedStreams(streams), [], 'whole streams')

  await client.setStreamMetadata('ringledger-marker', { maxCount: 1 })
  await client.deleteStream('ringledger-settings')
  await client.setStreamMetadata('catalog-voices', { truncateBefore: 1 })
  await client.setStreamMetadata('catalog-models', { maxAge: 60 })
  const found = await findLimitedStreams(streams)
  t.strictSame(found.map(({ stream, limit }) => [stream, limit]), [
    ['ringledger-marker', '$maxCount'],
    ['ringledger-settings', 'deleted'],
    ['catalog-voices', '$tb'],
    ['catalog-models', '$maxAge']
  ])
  t.match(found[0]?.problem, /ringledger-marker has \$maxCount.*: write metadata without \$maxCount to \$\$ringledger-marker\.$/)
  t.match(found[1]?.problem, /ringledger-settings was deleted.*: write metadata without \$tb to \$\$ringledger-settings, twice, /)

  for (const { stream } of found) await client.setStreamMetadata(stream, { owner: 'me' })
  await client.setStreamMetadata('ringledger-settings', { owner: 'me' })
  t.strictSame(await findLimitedStreams(streams), [], 'what it says mends it')
  t.equal((await streams.read('ringledger-settings')).length, 2)
})
