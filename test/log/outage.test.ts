// The log names an outage of the event store once.
import t from 'tap'
import { AccessRefused, EventStoreUnavailable } from '../../src/log/errors.js'
import { Outages } from '../../src/log/event-log.js'

const away = new EventStoreUnavailable('no answer')
const refused = new AccessRefused('no right')
const tellsAway = 'The event store is not available.'
const tellsRefused = 'The event store refuses access.'

/** The lines about an outage with these failures, one after the other. */
function toldOf (...failures: Error[]): string[] {
  const told: string[] = []
  const tell = (_details: object, message: string) => { told.push(message) }
  const outages = new Outages({ info: tell, warn: tell })
  for (const failure of failures) outages.failed('append', failure)
  return told
}

const cases: Record<string, [failures: Error[], told: string[]]> = {
  'an outage is one line, whatever the number of calls that fail': [[away, away, away], [tellsAway]],
  'and a lost right is': [[refused, refused], [tellsRefused]],
  'also where some calls get no answer besides': [[refused, away, refused], [tellsRefused]],
  'a right that is found lost in an outage is told too, because it needs another mend':
    [[away, refused, away, refused], [tellsAway, tellsRefused]]
}
for (const [title, [failures, told]] of Object.entries(cases)) {
  t.test(title, async (t) => t.strictSame(toldOf(...failures), told))
}
