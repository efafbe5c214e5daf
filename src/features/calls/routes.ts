// The routes of calls: the engine reports them, their users read them.
import Type, { type Static } from 'typebox'
import { type CallFilter, countCalls, eachCall, findCall, findCalls, type HourCount } from '../../../projections/calls.js'
import { findLeadOwner } from '../../../projections/find-leads.js'
import { countDeliveries, findDeliveries } from '../../../workers/deliveries/read.js'
import { DecodeError } from '../../domain/events.js'
import { Id } from '../../domain/json.js'
import { invalid as refused, notOwn, Rejection } from '../../domain/rejection.js'
import { Message } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal } from '../../http/docs/describe.js'
import { call, callId, callSummary, completedCall } from '../../http/docs/examples.js'
import { bom, csvExample, exportAnswer, type Exported, format, namesAsColumns, sendExport } from '../../http/exports.js'
import {
  beginningOf, dateRange, earliest, isNumber, latest, PhoneBeginning, Search, searched, updatedFrom
} from '../../http/filters.js'
import { reading, type Source } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { list, route } from '../route.js'
import { Delivery } from '../webhooks/model.js'
import { callIdWords, callStream, CompleteCallBody, isCallId } from './events.js'
import { callDecider, type CallFacts, CallReport, CallSummary, describeCall, validateReport } from './model.js'

const accepted = 'Call accepted'

const bodyLimit = 1024 * 1024

/** A transcript has four values for each turn. */
const mostValues = 50_000

export const completeCall = route('POST', '/engine/calls/:call_id/completed', {
  ...command('engine', 'Call completion failed', [], {
    tags: ['engine'],
    operationId: 'completeCall',
    summary: 'Report a completed call',
    description: 'The same report again is accepted again; another report for the same call is refused.',
    params: Type.Object({
      call_id: Type.String({
        description: `The call, as the engine names it: ${callIdWords}.`,
        examples: [callId]
      })
    }),
    body: example(CompleteCallBody, completedCall),
    response: {
      202: answered(
        'The call is recorded; its webhook follows.', Message, { message: accepted }, ['X-Read-Position', 'X-Ignored-Fields']),
      422: invalid({
        assistant_id: ['must be an existing assistant'],
        'transcript.0.role': ['must be one of: assistant, customer, tool']
      })
    }
  }, { mostValues }),
  bodyLimit
}, (services) => async (request, reply) => {
  const { call_id: callId } = request.params
  if (!isCallId(callId)) throw refused({ call_id: [`must be ${callIdWords}`] })
  return await services.handle(request, reply.code(202), {
    body: CompleteCallBody,
    facts: (report) => lookUpFacts(services, report),
    validate: (report, facts) => validateReport(callId, report, facts, new Date()),
    stream: () => callStream(callId),
    ofUser: ({ owner }) => owner,
    isNew: true,
    decider: callDecider,
    answer: () => ({ message: accepted })
  }).catch((error: unknown) => {
    if (!(error instanceof DecodeError)) throw error
    // This report cannot be compared with an event that cannot be read.
    throw new Rejection('call-differs', `Call ${callId} is in the log already, by an event that is malformed`)
  })
})

async function lookUpFacts (
  { positions, pool, ownerOf }: ApiServices, report: Partial<CompleteCallBody>
): Promise<CallFacts> {
  const { assistant_id, lead_id } = report
  if (assistant_id === undefined) return {}
  const owner = await ownerOf(assistant_id)
  if (owner === undefined) return { assistantExists: false }
  if (lead_id == null) return { owner }
  return { owner, leadBelongs: await positions.orNotKnown('leads', () => findLeadOwner(pool, lead_id)) === owner }
}

const tags = ['calls']

const filters = {
  assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
  lead_id: Type.Optional(Id({ description: 'Only those to this lead or secondary contact.' })),
  status: Type.Optional(CallSummary.properties.status),
  campaign_id: Type.Optional(Id({ description: 'Only those to leads of this campaign.' })),
  direction: Type.Optional(CallSummary.properties.direction),
  phone_number: Type.Optional(PhoneBeginning('the customer’s phone number, the called one of an outbound call')),
  search: Type.Optional(Search(
    'customer_name, email or phone number of the lead or secondary contact, as they are now',
    'Digits alone are the beginning of the phone number of the call.')),
  ...updatedFrom,
  ...dateRange('ended')
}

/** A search by name also reads the leads. */
const sourcesOfCalls = ({ search }: { search?: unknown }): Source[] =>
  typeof search === 'string' && !isNumber(search) ? ['calls', 'leads'] : ['calls']

const filterOf = (userId: string, query: Static<Type.TObject<typeof filters>>): CallFilter => ({
  userId,
  assistantId: query.assistant_id,
  leadId: query.lead_id,
  status: query.status,
  campaignId: query.campaign_id,
  direction: query.direction,
  phonePrefix: beginningOf(query.phone_number),
  ...searched(query.search),
  updatedFrom: earliest(query.updated_from),
  endedFrom: earliest(query.date_from),
  endedTo: latest(query.date_to)
})

const listCalls = list('/user/calls', {
  source: sourcesOfCalls,
  perPage: 15,
  keys: ['time', 'whole'],
  item: CallSummary,
  example: callSummary,
  filters,
  tags,
  operationId: 'listCalls',
  summary: 'List the calls of your assistants',
  description: 'Those that ended last first.'
}, ({ pool }, page, { user, query }) => findCalls(pool, filterOf(user.id, query), page))

const notFound = () => notOwn('Call')

const CallAnswer = Type.Object({
  ...CallReport.properties,
  deliveries: Type.Array(Delivery, { description: 'The webhooks of the call, as they are now.' })
}, { title: 'Call' })

const getCall = route('GET', '/user/call/:id', reading('calls', {
  tags,
  operationId: 'getCall',
  summary: 'Get a call',
  description: 'Everything that a webhook says of it, for when one was missed, and what became of its webhook.',
  params: Type.Object({ id: Type.String({ description: 'The call, as the engine names it.', examples: [callId] }) }),
  response: {
    200: answered('The call with its transcript and its webhook.', One(CallAnswer), { data: call }), 404: refusal(notFound().message)
  }
}), ({ pool }) => async ({ user, params: { id } }) => {
  const found = isCallId(id) ? await findCall(pool, user.id, id) : undefined
  if (!found) throw notFound()
  const deliveries = await findDeliveries(pool, user.id, id)
  return { data: { ...describeCall(found.summary, found.report), deliveries } }
})

const exported: Exported<CallSummary> = {
  name: 'calls',
  columns: [
    ...namesAsColumns(['call_id', 'assistant_id', 'lead_id']),
    ['primary_lead_id', ({ lead }) => lead?.primary_lead_id],
    ...namesAsColumns(['status', 'direction', 'from', 'to', 'started_at', 'ended_at', 'duration'])
  ]
}

const exportCalls = route('GET', '/user/calls/export', reading(sourcesOfCalls, {
  tags,
  operationId: 'exportCalls',
  summary: 'Export the calls of your assistants',
  description: 'All that fit the filters, by id, as they were at one instant; what each call was about is asked for by ' +
    'its id. In CSV, what a spreadsheet would take for a formula begins with an apostrophe.',
  querystring: Type.Object({ format, bom, ...filters }),
  response: { 200: exportAnswer('The calls.', exported.name, csvExample(exported, callSummary)) }
}, 'export'), ({ pool }) => async (request, reply) => await sendExport(request, reply, request.query, exported, (visit, signal) =>
  eachCall(pool, filterOf(request.user.id, request.query), visit, signal)))

// The last day of a user by the hour: how calls ended, and what became of their webhooks.

const hourMs = 3_600_000
const hoursOfDay = 24

/** Each is an entry of an index that is read. */
const mostCounted = 100_000

const Counts = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: Type.Integer({ minimum: 1 }),
  description: 'How many by status. A status that none has is absent.'
})
const Hour = Type.Object({
  hour: Type.String({ description: 'When the hour begins: ISO 8601, UTC.' }), counts: Counts
}, { title: 'HourCounts' })
const Hours = Type.Object({
  hours: Type.Array(Hour, { description: '24 hours, oldest first. The last one has not ended yet.' }),
  is_exact: Type.Boolean({
    description: `False where there are more than ${mostCounted.toLocaleString('en')}: then the newest of them are counted.`
  })
}, { title: 'HoursOfDay' })
const OwnDay = Type.Object({ calls: Hours, deliveries: Hours }, { title: 'OwnDay' })

const hour = '2026-01-31T12:00:00.000Z'
const ownDay = {
  calls: { hours: [{ hour, counts: { completed: 41, 'no-answer': 7 } }], is_exact: true },
  deliveries: { hours: [{ hour, counts: { delivered: 40, scheduled: 1 } }], is_exact: true }
}

const getDay = route('GET', '/user/day', reading(() => ['calls', 'deliveries'], {
  tags,
  operationId: 'getDay',
  summary: 'See your last day by the hour',
  description: 'Calls in the hour that they ended in, and webhooks in the hour that they were made in.',
  response: { 200: answered('The last 24 hours.', One(OwnDay), { data: ownDay }) }
}, 'list'), ({ pool }) => async ({ user }) => {
  const first = Math.floor(Date.now() / hourMs) - hoursOfDay + 1
  const hours = [first, first + hoursOfDay].map((hour) => new Date(hour * hourMs)) as [Date, Date]
  const asked = [pool, user.id, ...hours, mostCounted] as const
  const [calls, deliveries] = await Promise.all([countCalls(...asked), countDeliveries(...asked)])
  return { data: { calls: byHour(first, calls), deliveries: byHour(first, deliveries) } }
})

function byHour (first: number, found: readonly HourCount[]) {
  const hours = Array.from({ length: hoursOfDay }, (_, index) => {
    const counts = found.filter((each) => each.hour === first + index).map(({ status, count }) => [status, count])
    return { hour: new Date((first + index) * hourMs).toISOString(), counts: Object.fromEntries(counts) }
  })
  return { hours, is_exact: found.reduce((sum, { count }) => sum + count, 0) <= mostCounted }
}

export const callQueries = [listCalls, getCall, exportCalls, getDay]
