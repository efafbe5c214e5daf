// What an operator is told at the start of streams that lose events.
import { Writable } from 'node:stream'
import pino from 'pino'
import t from 'tap'
import { startRoles } from '../../../src/services/roles.js'
import { testService } from '../../support/service.js'

t.test('a start says which stream of ours loses events, and what mends it', async (t) => {
  const { client, config, urls } = await testService(t, [])
  await client.setStreamMetadata('ringledger-marker', { maxCount: 1 })
  const errors: string[] = []
  const told = new Writable({
    write (chunk, _encoding, done) {
      errors.push(JSON.parse(String(chunk)).msg)
      done()
    }
  })
  const { stop } = await startRoles(['projector'], config, urls, pino({ level: 'error' }, told))
  await stop()
  t.strictSame(errors, [
    'The metadata of the stream ringledger-marker has $maxCount, and a scavenge takes events away for good: ' +
    'write metadata without $maxCount to $$ringledger-marker.'
  ])
})
