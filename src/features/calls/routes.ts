// The routes of calls: the engine reports them, their users read them.
import Type, { type Static } from 'typebox'
import { type CallFilter, eachCall, findCall, findCalls } from '../../../projections/calls.js'
import { findLeadOwner } from '../../../projections/find-leads.js'
import { findDeliveries } from '../../../workers/deliveries/read.js'
import { DecodeError } from '../../domain/events.js'
import { Id } from '../../domain/json.js'
import { invalid as refused, Rejection } from '../../domain/rejection.js'
import { type App, Message } from '../../http/app-types.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal } from '../../http/docs/describe.js'
import { call, callId, callSummary, completedCall, page } from '../../http/docs/examples.js'
import { bom, csvExample, exportAnswer, type Exported, format, sendExport } from '../../http/exports.js'
import {
  beginningOf, dateRange, earliest, isNumber, latest, PhoneBeginning, Search, searched, updatedFrom
} from '../../http/filters.js'
import { PageOf, Paging } from '../../http/lists.js'
import { itemErrors, readErrors, readHeaders, reading, type Source } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { Delivery } from '../webhooks/model.js'
import { callStream, CompleteCallBody, isCallId } from './events.js'
import { callDecider, type CallFacts, CallReport, CallSummary, describeCall, validateReport } from './model.js'

const accepted = 'Call accepted'

const completeCallSchema = {
  operationId: 'completeCall',
  summary: 'Report a completed call',
  description: 'The same report again is accepted again; another report for the same call is refused.',
  tags: ['engine'],
  security: [{ bearer: [] }],
  params: Type.Object({
    call_id: Type.String({
      description: 'The call, as the engine names it: 1 to 128 letters, digits, dots, underscores, tildes or hyphens.',
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
}

const bodyLimit = 1024 * 1024

/** A transcript has four for each turn. */
const mostValues = 50_000

export function completeCall (app: App, services: ApiServices): void {
  const { config, ...options } = command('engine', 'Call completion failed')
  const budget = { bodyLimit, config: { ...config, mostValues } }
  app.post('/engine/calls/:call_id/completed', { schema: completeCallSchema, ...options, ...budget }, async (request, reply) => {
    const callId = callIdIn(request.params.call_id)
    return await refuseUnreadable(callId, services.handle(request, reply.code(202), {
      body: CompleteCallBody,
      facts: (report) => lookUpFacts(services, report),
      validate: (report, facts) => validateReport(callId, report, facts),
      stream: () => callStream(callId),
      ofUser: ({ owner }) => owner,
      isNew: true,
      decider: callDecider,
      answer: () => ({ message: accepted })
    }))
  })
}

/** `owner` has the assistant, and so knows the person. */
interface OwnedCallFacts extends CallFacts { owner?: string }

/** @throws Rejection when the path holds no call id */
function callIdIn (text: string): string {
  if (isCallId(text)) return text
  throw refused({ call_id: ['must be 1 to 128 letters, digits, dots, underscores, tildes or hyphens'] })
}

/** An event in the stream of the call that cannot be read: this report cannot be compared with it. */
async function refuseUnreadable<Answer> (callId: string, handling: Promise<Answer>): Promise<Answer> {
  try {
    return await handling
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new Rejection('call-differs', `Call ${callId} is in the log already, by an event that is malformed`)
  }
}

async function lookUpFacts (
  { positions, pool, ownerOf }: ApiServices, report: Partial<CompleteCallBody>
): Promise<OwnedCallFacts> {
  const { assistant_id, lead_id } = report
  if (assistant_id === undefined) return {}
  const owner = await ownerOf(assistant_id)
  if (owner === undefined) return { assistantExists: false }
  if (lead_id == null) return { owner }
  return { owner, leadBelongs: await positions.orNotKnown('leads', () => findLeadOwner(pool, lead_id)) === owner }
}

const callFilters = {
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

/** Names are those of leads. */
const sourcesOfCalls = ({ search }: { search?: unknown }): Source[] =>
  typeof search === 'string' && !isNumber(search) ? ['calls', 'leads'] : ['calls']

function callFilterOf (userId: string, query: Static<Type.TObject<typeof callFilters>>): CallFilter {
  return {
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
  }
}

const paging = new Paging('calls', 15, ['time', 'whole'])

const listCallsSchema = {
  operationId: 'listCalls',
  summary: 'List the calls of your assistants',
  description: 'Those that ended last first.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ ...callFilters, ...paging.parameters }),
  response: { 200: answered('The page that was asked for.', PageOf(CallSummary), page(15, callSummary)), ...readErrors }
}

export function listCalls (app: App, { pool, positions }: ApiServices): void {
  app.get('/user/calls', { schema: listCallsSchema, ...reading(sourcesOfCalls, positions, paging) }, async ({ user, query }) => {
    return paging.answer(query, await findCalls(pool, callFilterOf(user.id, query), paging.requested(query)))
  })
}

const notFound = 'Call not found or does not belong to the authenticated user'

const CallAnswer = Type.Object({
  ...CallReport.properties,
  deliveries: Type.Array(Delivery, { description: 'The webhooks of the call, as they are now.' })
}, { title: 'Call' })

const getCallSchema = {
  operationId: 'getCall',
  summary: 'Get a call',
  description: 'Everything that a webhook says of it, for when one was missed, and what became of its webhook.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: Type.Object({ id: Type.String({ description: 'The call, as the engine names it.', examples: [callId] }) }),
  response: {
    200: answered('The call with its transcript and its webhook.', One(CallAnswer), { data: call }),
    ...itemErrors,
    404: refusal(notFound)
  }
}

export function getCall (app: App, { pool, positions }: ApiServices): void {
  app.get('/user/call/:id', { schema: getCallSchema, ...reading('calls', positions) }, async ({ user, params: { id } }) => {
    const found = isCallId(id) ? await findCall(pool, user.id, id) : undefined
    if (!found) throw new Rejection('not-found', notFound)
    const deliveries = await findDeliveries(pool, user.id, id)
    return { data: { ...describeCall(found.summary, found.report), deliveries } }
  })
}

const exported: Exported<CallSummary> = {
  name: 'calls',
  columns: [
    ['call_id', ({ call_id }) => call_id],
    ['assistant_id', ({ assistant_id }) => assistant_id],
    ['lead_id', ({ lead_id }) => lead_id],
    ['primary_lead_id', ({ lead }) => lead?.primary_lead_id],
    ['status', ({ status }) => status],
    ['direction', ({ direction }) => direction],
    ['from', ({ from }) => from],
    ['to', ({ to }) => to],
    ['started_at', ({ started_at }) => started_at],
    ['ended_at', ({ ended_at }) => ended_at],
    ['duration', ({ duration }) => duration]
  ]
}

const exportCallsSchema = {
  operationId: 'exportCalls',
  summary: 'Export the calls of your assistants',
  description: 'All that fit the filters, by id, as they were at one instant; what each call was about is asked for by ' +
    'its id. In CSV, what a spreadsheet would take for a formula begins with an apostrophe.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ format, bom, ...callFilters }),
  response: { 200: exportAnswer('The calls.', exported.name, csvExample(exported, callSummary)), ...readErrors }
}

export function exportCalls (app: App, { pool, positions }: ApiServices): void {
  const options = { schema: exportCallsSchema, ...reading(sourcesOfCalls, positions, undefined, 'export') }
  app.get('/user/calls/export', options, async (request, reply) => {
    const { user, query } = request
    return await sendExport(request, reply, query, exported, (visit, signal) =>
      eachCall(pool, callFilterOf(user.id, query), visit, signal))
  })
}
