// Histories of events, and courses of a projector through them, at random.
import fc from 'fast-check'
import {
  assistantCreated, assistantDeleted, assistantSwitched, assistantUpdated, callCompleted, leadCreated, leadDeleted,
  leadStatusChanged, leadUpdated, type Told
} from '../../support/events/call-events.js'

// Few ids, so that events meet.
const assistantId = fc.integer({ min: 1, max: 2 })
const leadId = fc.integer({ min: 1, max: 3 })
const callNumber = fc.integer({ min: 1, max: 6 })
const user = fc.constantFrom('1', '1', '1', '2')

const creation = fc.tuple(assistantId, user).map(([id, owner]) => assistantCreated(id, {}, owner))

const changes = fc.record(
  { assistant_name: fc.constantFrom('a', 'Grüezi 👋', '{"\'\\,'), record_call: fc.boolean() },
  { requiredKeys: [] }
)
const update = fc.tuple(assistantId, changes).map(([id, changes]) => assistantUpdated(id, changes))

const switching = fc.tuple(assistantId, fc.constantFrom('active' as const, 'inactive' as const))
  .map(([id, status]) => assistantSwitched(id, status))
const deletion = assistantId.map((id) => assistantDeleted(id))

const lead = fc.tuple(leadId, user, fc.constantFrom([], [1], [1, 2])).map(([id, owner, more]) =>
  leadCreated(id * 10, 10, more.map((extra) => id * 10 + extra), owner))
const misplacedLead = fc.tuple(leadId, leadId).map(([id, stream]) =>
  ({ ...leadCreated(id * 10, 10), stream: `lead-10-${stream * 10}` }))

const leadChange = fc.tuple(leadId, fc.constantFrom(undefined, [], [1], [2, 1], [3]), fc.constantFrom([], [1], [1, 2]))
  .map(([id, kept, gone]) => {
    const ofLead = (extra: number) => id * 10 + extra
    return leadUpdated(id * 10, 10, kept?.map(ofLead), gone.map(ofLead))
  })
const leadMove = fc.tuple(leadId, fc.constantFrom(null, 1, 2), fc.constantFrom('blacklisted' as const, 'scheduled' as const))
  .map(([id, extra, status]) => leadStatusChanged(id * 10, 10, status, extra && id * 10 + extra))
const leadDeletion = leadId.map((id) => leadDeleted(id * 10, 10))

const outcome = fc.record({
  assistant_id: assistantId,
  lead_id: fc.constantFrom(null, 10, 11, 12, 20, 21, 30),
  status: fc.constantFrom('completed' as const, 'failed' as const)
})
const leadStatus = fc.constantFrom(
  undefined, undefined, 'rescheduled' as const, 'processing' as const, 'blacklisted' as const)
const minute = fc.integer({ min: 0, max: 9 })
const at = (minute: number) => `2026-01-31T12:0${minute}:00.000Z`
const call = fc.tuple(callNumber, outcome, leadStatus, minute, minute).map(([id, outcome, lead_status, end, created]) =>
  ({
    ...callCompleted(`c${id}`, { ...outcome, ...(lead_status && { lead_status }), ended_at: at(end) }),
    created: new Date(at(created))
  }))
const otherType = callNumber.map((id) => ({ type: 'CallStarted', stream: `call-c${id}`, data: {} }))

const malformed = fc.constantFrom(
  { type: 'AssistantUpdated', stream: 'assistant-1' },
  { type: 'LeadCreated', stream: 'lead-10-10' },
  { type: 'CallCompleted', stream: 'call-c1' }
).map((event) => ({ ...event, data: { nonsense: true } }))

/** Whatever happens to leads and calls. */
export const leadsAndCalls: fc.MaybeWeightedArbitrary<Told>[] = [
  { weight: 5, arbitrary: lead },
  { weight: 1, arbitrary: misplacedLead },
  { weight: 2, arbitrary: leadChange },
  { weight: 2, arbitrary: leadMove },
  { weight: 1, arbitrary: leadDeletion },
  { weight: 8, arbitrary: call },
  { weight: 1, arbitrary: malformed }
]

/** Any events in any order, also those that no command of ours leads to. */
export const history: fc.Arbitrary<Told[]> = fc.array(fc.oneof<fc.MaybeWeightedArbitrary<Told>[]>(
  { weight: 3, arbitrary: creation },
  { weight: 4, arbitrary: update },
  { weight: 2, arbitrary: switching },
  { weight: 1, arbitrary: deletion },
  { weight: 2, arbitrary: otherType },
  ...leadsAndCalls
), { minLength: 20, maxLength: 60 })

export interface Step { size: number, incident: string, failure: { statement: number, when: 'before' | 'after' } }

const failure = fc.record({
  statement: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const)
})

/** The sizes of batches, what happens before each, and which of the next statements fails. */
export const course: fc.Arbitrary<Iterable<Step>> = fc.infiniteStream(fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  incident: fc.constantFrom('goes on', 'goes on', 'goes on', 'fails', 'ends', 'restarts'),
  failure
}))
