// What a request for the data of a person leads to.
import t from 'tap'
import {
  type EndRequest, isKept, personRequestDecider, type RequestPerson
} from '../../../src/features/persons/model.js'
import type { PersonRequestEvent } from '../../../src/features/persons/events.js'
import { scenarios } from '../../support/commands/given.js'

const given = scenarios(personRequestDecider)
const now = '2026-02-01T12:00:00.000Z'
const later = '2026-02-01T12:00:05.000Z'
const commandId = 'c56a4180-65aa-42ec-a945-5fd21dec0538'
const number_digest = '0123456789abcdef0123456789abcdef'
const ids = { person_request_id: commandId, user_id: '1' }

const requested: PersonRequestEvent = {
  type: 'PersonRequested', data: { ...ids, type: 'export', number_digest, requested_at: now }
}
const completed: PersonRequestEvent = { type: 'PersonRequestCompleted', data: { ...ids, finished_at: later } }
const failed: PersonRequestEvent = { type: 'PersonRequestFailed', data: { ...ids, finished_at: later } }
const request: RequestPerson = { type: 'request', kind: 'export', number_digest, commandId, userId: '1', now }
const end = (isDone: boolean): EndRequest => ({ type: 'end', isDone, now: later })

t.test('a request is made once', async (t) => {
  given([]).when(request).then(t, [requested])
  given([requested]).when(request).then(t, [])
})

t.test('it ends once, and what is not there does not', async (t) => {
  given([requested]).when(end(true)).then(t, [completed])
  given([requested]).when(end(false)).then(t, [failed])
  given([requested, completed]).when(end(false)).then(t, [])
  given([requested, failed]).when(end(true)).then(t, [])
  given([]).when(end(true)).then(t, [])
})

t.test('an export is kept for 24 hours after its end', async (t) => {
  const ended = Date.parse(later)
  t.equal(isKept({ finished_at: null }, ended), false)
  t.equal(isKept({ finished_at: later }, ended + 24 * 3_600_000 - 1), true)
  t.equal(isKept({ finished_at: later }, ended + 24 * 3_600_000), false)
})
