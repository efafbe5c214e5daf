// Schemas of the answers to operators, each with an example for the API document.
import Type, { type Static, type TSchema } from 'typebox'
import { actions } from '../../projections/engine/operations.js'
import { At, Id, Nullable } from '../domain/json.js'
import { DeliveryDetails, DeliverySummary, type TroubledWebhook } from '../features/webhooks/model.js'
import { only } from '../http/auth.js'
import { deliveryDetails, deliverySummary } from '../http/docs/examples.js'

/** Options of a route for operators. */
export const forOperators = <Schema extends object>(
  operationId: string, summary: string, description: string, schema: Schema
) => ({ onRequest: only('ops'), schema: { operationId, summary, description, tags: ['operators'], ...schema } })

const Text = Type.String()
const Words = (description: string) => Nullable(Text, { description })
const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description !== undefined && { description }) })
const UserOf = Nullable(Text, { description: 'Whose it is; null when the assistant is unknown.' })

/** A list that has a bound and no pages. */
export const All = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item) }, { title: `All${String(Reflect.get(item, 'title'))}` })

export const Done = Type.Object({ message: Type.String({ description: 'What was done, for a person to read.' }) }, { title: 'Done' })

export const ActionName = Type.Enum([...actions], { title: 'ProjectionActionName' })

export const ActionReport = Type.Object({
  id: Text,
  action: ActionName,
  projection: Text,
  state: Type.Enum(['running', 'done', 'failed'], { title: 'ProjectionActionState' }),
  progress: Nullable(Type.Number(), { description: '0 to 1; null where nobody knows the end.' }),
  message: Type.String({ description: 'What it does, or what became of it, for a person to read.' }),
  began_at: At()
}, { title: 'ProjectionAction' })

const Generation = Type.Object({
  projection: Text,
  generation: Id({}),
  state: Type.Enum(['building', 'ready', 'active', 'retained', 'dropping'], {
    title: 'GenerationState',
    description: 'building by a replay; ready to be swapped in; active, which readers see; retained, to go back to; dropping.'
  }),
  complete: Type.Boolean({ description: 'False while it is filled for the first time.' }),
  code_version: Type.Integer({ description: 'Version of the code that folds it.' }),
  present_version: Type.Integer({ description: 'Version of the code of this release.' }),
  position: Type.String({ description: 'In the log, as text: it may be larger than a number of JSON.' }),
  behind: Type.String({ description: 'How far the log is ahead, in positions.' }),
  updated_at: Type.String({ description: 'When its rows or its position changed last; `never` before.' }),
  owner: Words('The process that feeds or builds it.'),
  paused_since: Words('Since when an operator has paused it.'),
  verified: Words('Against what it was verified before it was swapped in.'),
  rollback: Words('Whether readers can go back to a retained one: `yes`, or `no: ` and why.'),
  due: Words('The command that is due.')
}, { title: 'ProjectionGeneration' })

export const ProjectionStatus = Type.Object({
  name: Type.String({ description: 'A projection, or `dispatcher`: that of webhooks, which has no generations.' }),
  state: Type.Enum(['running', 'paused', 'stopped', 'filling'], { title: 'ProjectionState', description: 'How the generation is that readers see.' }),
  problem: Words('Why it is stopped.'),
  position: Type.String({ description: 'In the log, as text.' }),
  lag_events: Count('How far the log is ahead. Beyond 10,000 events it is not exact.'),
  lag_is_exact: Type.Boolean(),
  lag_seconds: Type.Number(),
  rate: Type.Number({ description: 'Events a second, in the last full minute.' }),
  parked_streams: Count(),
  generations: Type.Array(Generation),
  action: Nullable(ActionReport, { description: 'What runs on it just now.' }),
  offers: Type.Array(Type.Object({
    action: ActionName, why_not: Words('Why it would be refused now; null where it can be begun.')
  }, { title: 'ActionOffer' }), { description: 'What an operator can do to it.' })
}, { title: 'Projection' })
export type ProjectionStatus = Static<typeof ProjectionStatus>

export const ParkedStream = Type.Object({
  projection: Text,
  generation: Nullable(Type.Integer(), { description: 'Null of the dispatcher, which has none.' }),
  stream: Text,
  events: Count('So many of its events are parked.'),
  revision: Type.String({ description: 'Revision of the first parked event. The fields below describe the same event.' }),
  position: Text,
  type: Text,
  error: Text,
  since: At()
}, { title: 'ParkedStream' })

export const DeliveryOfUser = Type.Object({ ...DeliverySummary.properties, user_id: UserOf }, { title: 'DeliveryOfUser' })
export const DeliveryOfUserDetails =
  Type.Object({ ...DeliveryDetails.properties, user_id: UserOf }, { title: 'DeliveryOfUserDetails' })

export const Work = Type.Object({
  id: Text,
  kind: Text,
  user_id: Text,
  state: Type.Enum(['prepared', 'accepted', 'failed'], {
    title: 'WorkState', description: 'prepared: its event is not in the log yet. accepted: workers do it. failed: within a day.'
  }),
  turns: Count(),
  failures: Count('Turns in a row that kept nothing.'),
  waits_for: Words('What it waits for.'),
  last_error: Words('What the last failed turn said, or why failed work was given up.'),
  created_at: At(),
  due_at: Type.String({ description: 'When its next turn is due at the earliest.' }),
  finished_at: Words('When it failed.')
}, { title: 'Work' })

export const Queue = Type.Object({
  due: Count('Attempts that are due, and that a worker could make.'),
  in_flight: Count(),
  held: Count(),
  oldest_due: Words('Since when the attempt that waits longest is due.'),
  suspended_endpoints: Count('Webhooks that nothing is sent to.'),
  failing_endpoints: Count('Others whose last three attempts or more have failed.'),
  unaccounted: Nullable(Type.Integer(), { description: 'Calls without a row in the delivery log; null before the first count.' })
}, { title: 'WebhookQueue' })
export type Queue = Static<typeof Queue>

const Hour = Type.Object({
  hour: Type.String({ description: 'When it begins.' }),
  attempts: Type.Record(Type.String(), Count(), { description: 'That were started in it, by outcome.' }),
  latency: Nullable(Type.Object({ p50: Type.Number(), p99: Type.Number() }, { title: 'Latency' }), {
    description: 'From the row of a call to the end of the attempt that delivered it, in seconds.'
  })
}, { title: 'HourOfAttempts' })
const Commands = Type.Object({
  at: Type.String({ description: 'When the ten minutes begin. Those without a command are not in the list.' }),
  accepted: Count(),
  refused: Count(),
  failed: Count()
}, { title: 'CommandsOfTenMinutes' })
export const Day = Type.Object({
  attempts: Type.Array(Hour),
  share: Type.Number({ description: '1 when every attempt was looked at, less when a sample was; then numbers are estimates.' }),
  commands: Type.Array(Commands)
}, { title: 'LastDay' })
export type Day = Static<typeof Day>

export const Finding = Type.Object({
  part: Type.String({ description: 'Such as `Postgres`.' }),
  check: Text,
  level: Type.Enum(['ok', 'skipped', 'warning', 'error'], { title: 'FindingLevel' }),
  found: Text,
  mend: Type.Optional(Type.String({ description: 'What mends it.' }))
}, { title: 'Finding' })
export type Finding = Static<typeof Finding>

export const Setting = Type.Object({
  name: Text,
  value: Words('As it is; of a URL its origin. Null of a secret, and where it is not set and has no default.'),
  is_set: Type.Boolean({ description: 'False where the default holds.' })
}, { title: 'Setting' })

// Examples.

const at = '2026-01-31T12:05:00.000Z'

export const action: Static<typeof ActionReport> = {
  id: '7d7a9f43-2c0e-4b53-9a4e-1f0f6a1f8b20',
  action: 'replay',
  projection: 'leads',
  state: 'done',
  progress: 1,
  message: 'Replayed leads in 1.2 s; readers see generation 2 now.',
  began_at: at
}

export const projection: ProjectionStatus = {
  name: 'leads',
  state: 'running',
  problem: null,
  position: '48213',
  lag_events: 0,
  lag_is_exact: true,
  lag_seconds: 0,
  rate: 12.4,
  parked_streams: 0,
  generations: [{
    projection: 'leads',
    generation: 1,
    state: 'active',
    complete: true,
    code_version: 3,
    present_version: 3,
    position: '48213',
    behind: '0',
    updated_at: at,
    owner: 'host-1 4711 0b5f2c1d',
    paused_since: null,
    verified: null,
    rollback: null,
    due: null
  }],
  action: null,
  offers: [
    { action: 'replay', why_not: null },
    { action: 'rollback', why_not: 'There is no retained generation of leads to go back to.' }
  ]
}

export const parked: Static<typeof ParkedStream> = {
  projection: 'leads',
  generation: 1,
  stream: 'lead-1',
  events: 1,
  revision: '4',
  position: '48101',
  type: 'LeadUpdated',
  error: 'its data is malformed: status must be a text',
  since: at
}

export const deliveryOfUser = { ...deliverySummary, user_id: '1' }
export const deliveryOfUserDetails = { ...deliveryDetails, user_id: '1' }

export const troubled: TroubledWebhook = {
  assistant_id: 1,
  user_id: '1',
  url: 'https://hooks.example.com/calls',
  state: 'failing',
  reason: null,
  since: at,
  until: null,
  last_error: 'the receiver answered 500',
  waiting: 12
}

export const work: Static<typeof Work> = {
  id: '3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10',
  kind: 'lead-import',
  user_id: '1',
  state: 'accepted',
  turns: 3,
  failures: 0,
  waits_for: null,
  last_error: null,
  created_at: at,
  due_at: at,
  finished_at: null
}

export const queue: Queue = {
  due: 0, in_flight: 2, held: 12, oldest_due: null, suspended_endpoints: 0, failing_endpoints: 1, unaccounted: 0
}

export const day: Day = {
  attempts: [{ hour: at, attempts: { delivered: 420, rejected: 3 }, latency: { p50: 0.08, p99: 1.2 } }],
  share: 1,
  commands: [{ at, accepted: 812, refused: 4, failed: 0 }]
}

export const finding: Finding = { part: 'Postgres', check: 'connections', level: 'ok', found: '93 free; a process takes 52 at most' }

export const setting: Static<typeof Setting> = { name: 'WEBHOOK_RETENTION_DAYS', value: '90', is_set: false }
