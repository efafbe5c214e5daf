// An event is folded into the rows that its projection names for it, and into no others.
import t from 'tap'
import { leads } from '../../../projections/leads.js'
import { fold, readEvents, type Readable } from '../../../projections/engine/fold.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { MemoryRows } from '../../../projections/engine/rows.js'
import { callCompleted, leadCreated, logOf, type Told } from '../../support/events/call-events.js'

/** The event as the engine hands it to a projection. */
function readBy (projection: Projection, told: Told): Readable {
  const [read] = readEvents(projection, logOf()([told]))
  if (!read || !('event' in read)) throw new Error(`${told.type} cannot be read`)
  return read
}

t.test('a projection that reads a row without naming its key is stopped', (t) => {
  const forgetful: Projection = {
    ...leads, keys: (event, place) => event.type === 'CallCompleted' ? [] : leads.keys(event, place)
  }
  const rows = new MemoryRows(forgetful.tables, { isEmpty: true })
  t.throws(() => fold(forgetful, readBy(forgetful, callCompleted('a', { lead_id: 10 })), rows), {
    message: 'leads reads leads 10, which its keys do not name'
  })
  t.end()
})

t.test('a key that another event has named does not count, nor does a row that is in memory', (t) => {
  const lead = readBy(leads, leadCreated(10, 10))
  const rows = new MemoryRows(leads.tables, { isEmpty: true })
  t.equal(fold(leads, lead, rows), undefined)
  t.throws(() => fold(leads, { ...lead, keys: [] }, rows), { message: /^leads reads leads 10, / })
  t.end()
})

t.test('a row whose key was named and that does not exist is absent', (t) => {
  const rows = new MemoryRows(leads.tables, { isEmpty: true })
  t.equal(fold(leads, readBy(leads, callCompleted('a', { lead_id: 10 })), rows), undefined)
  t.strictSame(rows.take().flatMap(({ created }) => created), [{ call_id: 'a' }])
  t.end()
})
