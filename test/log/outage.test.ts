// What the log says of an outage of the event store.
import t from 'tap'
import { AccessRefused, EventStoreUnavailable } from '../../src/log/errors.js'
import { Outages } from '../../src/log/event-log.js'

const away = new EventStoreUnavailable('no answer')
const refused = new AccessRefused('no right')
const tellsAway = 'The event store is not available.'
const tellsRefused = 'The event store refuses access.'

/** What is told of an outage with these failures, one after the other. */
function toldOf (...failures: Error[]): string[] {
  const told: string[] = []
  const tell = (_details: object, message: string) => { told.push(message) }
  const outages = new Outages({ info: tell, warn: tell })
  for (const failure of failures) outages.failed('append', failure)
  return told
}

t.test('an outage is one line, whatever the number of calls that fail', async (t) => {
  t.strictSame(toldOf(away, away, away), [tellsAway])
  t.strictSame(toldOf(refused, refused), [tellsRefused])
})

t.test('a lost right is one line, although some calls get no answer besides', async (t) => {
  t.strictSame(toldOf(refused, away, refused), [tellsRefused])
})

t.test('a right that is found lost in an outage is told too, because it needs another mend', async (t) => {
  t.strictSame(toldOf(away, refused, away, refused), [tellsAway, tellsRefused])
})
