// The long streams of the bench of growth are ones that the service could have written.
import t from 'tap'
import { logOf, longAssistant } from '../../bench/growth/log.js'
import { decode } from '../../src/domain/events.js'

t.test('after the history come three assistants of each length, and readers decode all of it', async (t) => {
  const lengths = [2, 5]
  const log = [...logOf(1_000, lengths)]
  t.equal(log.length, 1_000 + 3 * (1 + 2) + 3 * (1 + 5))
  for (const updates of lengths) {
    const stream = `assistant-${longAssistant(lengths, updates, 2)}`
    const revisions = log.filter((event) => event.stream === stream).map(({ revision }) => revision)
    t.strictSame(revisions, Array.from({ length: updates + 1 }, (_, revision) => revision))
  }
  const places = new Set(log.map(({ stream, revision }) => `${stream}@${revision}`))
  t.equal(places.size, log.length)
  for (const { stream, revision, type, data, metadata } of log.slice(1_000)) {
    const stored = { stream, revision: BigInt(revision), type, data: JSON.parse(JSON.stringify(data)), metadata }
    t.equal(decode(stored)?.type, type)
  }
})
