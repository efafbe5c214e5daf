// The key that hides phone numbers is chosen once for a log.
import t from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { holdToLeadDigestKey, phoneHash } from '../../src/commands/phone-numbers.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const [digest, other] = [phoneHash(Buffer.alloc(32, 1)), phoneHash(Buffer.alloc(32, 2))]

t.test('a digest is 32 hex digits that follow from key and number', async (t) => {
  t.match(digest('+15551230001'), /^[0-9a-f]{32}$/)
  t.equal(digest('+15551230001'), digest('+15551230001'))
  t.not(digest('+15551230001'), digest('+15551230002'))
  t.not(digest('+15551230001'), other('+15551230001'))
})

t.test('the first start writes a fingerprint, also when many start at once; later ones are held to it', async (t) => {
  await Promise.all(Array.from({ length: 5 }, () => holdToLeadDigestKey(streams, digest)))
  await holdToLeadDigestKey(streams, digest)
  const stored = await streams.read('ringledger-settings')
  t.match(stored, [{ type: 'LeadDigestKeyChosen', data: { fingerprint: digest('LEAD_DIGEST_KEY') } }])
  t.equal(stored.length, 1)
  await t.rejects(holdToLeadDigestKey(streams, other), { name: 'OtherLeadDigestKey' })
  t.equal((await streams.read('ringledger-settings')).length, 1)
})
