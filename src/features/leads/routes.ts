// The routes of leads, one at a time and as lists.
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { findCampaignRow } from '../../../projections/catalog.js'
import {
  eachLead, findLead, findLeads, findLeadToChange, type LeadFilter, type LeadOnStream
} from '../../../projections/find-leads.js'
import { Id } from '../../domain/json.js'
import { etagOfData, tagged, reading } from '../../http/read-position.js'
import { Message, leadPath, pathId } from '../../http/app-types.js'
import { command, type Handled } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { changedLead, lead as leadExample, newLead } from '../../http/docs/examples.js'
import { bom, csvExample, exportAnswer, type Exported, format, namesAsColumns, sendExport } from '../../http/exports.js'
import {
  beginningOf, dateRange, earliest, latest, PhoneBeginning, Search, updatedFromAlso
} from '../../http/filters.js'
import type { ApiServices } from '../../services/services.js'
import type { Listed } from '../blacklist/model.js'
import { list, route } from '../route.js'
import {
  chosenStatuses, CreateLeadBody, leadDecider, type LeadFacts, leadNotFound, numbersToAsk, oneLeadDecider,
  UpdateLeadBody, validateLead, validateLeadChanges
} from './decide.js'
import { leadStream } from './events.js'
import {
  createdLead, describeLead, type Lead, LeadAnswer, leadAsListed, numbersOf, type OneLeadState, withCalling
} from './model.js'

/** The lead as reads show it, even a deleted one: a retried command must find its stream. */
async function lookUpLead ({ positions, pool }: ApiServices, userId: string, id: number): Promise<LeadOnStream> {
  const found = await positions.orNotKnown('leads', () => findLeadToChange(pool, userId, id))
  if (!found) throw leadNotFound()
  return found
}

/**
 * The ETag that reads showed. A lead consists of its own stream, its calls, the do-not-call list and its campaign. The
 * state of its stream is exact here, the rest is as fresh as the read model.
 */
function etagBefore (state: OneLeadState, { lead, campaignName }: Partial<LeadOnStream>): string {
  if (!state) throw leadNotFound()
  return etagOfData(describeLead(withCalling(state, lead, new Set()), campaignName ?? ''))
}

/**
 * The lead from the read model, once that has it, with its `ETag`. Reads the do-not-call streams last, after the
 * append: so no lead shows as callable once the entry of its number was answered.
 */
async function answerLead (
  services: ApiServices, reply: FastifyReply, lead: Lead,
  { facts: { campaignName }, readBack }: Pick<Handled<unknown, Pick<LeadFacts, 'campaignName'>>, 'facts' | 'readBack'>,
  isAllInStream = false
): Promise<LeadAnswer> {
  const { user_id: userId, id } = lead
  const answer = await readBack({
    source: 'leads',
    folded: () => describeLead(lead, campaignName ?? ''),
    async read () {
      const found = await findLead(services.pool, userId, id)
      return found && describeLead(found.lead, found.campaignName)
    },
    isAllInStream
  })
  return await asListed(services, reply, userId, answer)
}

/**
 * Shows persons with a listed number as blacklisted, also in an answer that is repeated. If the do-not-call streams
 * cannot be read, it is a 500: the lead is written, but whether it may be called is unknown.
 */
async function asListed (
  { blacklists }: ApiServices, reply: FastifyReply, userId: string, lead: LeadAnswer
): Promise<LeadAnswer> {
  try {
    return tagged(reply, leadAsListed(lead, await blacklists.listed(userId, numbersOf(lead))))
  } catch (cause) {
    throw new Error('the lead was written, and whether it may be called is not known', { cause })
  }
}

interface Shown { message: string, data: LeadAnswer }

/** When an answer is repeated, the persons in it may have been erased or listed since. */
const kept = (services: ApiServices, { user }: FastifyRequest, reply: FastifyReply) => ({
  about: ({ data }: Shown) => numbersOf(data).map((number) => services.blacklists.streamOf(user.id, number)),
  again: async ({ message, data }: Shown): Promise<Shown> =>
    ({ message, data: await asListed(services, reply, user.id, data) })
})

const tags = ['leads']
const notFound = refusal(leadNotFound().message)
const whole = 'The lead with its secondary contacts.'
const after = (message: string, data: LeadAnswer) => withMessage(whole, LeadAnswer, { message, data })

const created = 'Lead created successfully'
const createLead = route('POST', '/user/lead', command('user', 'Lead creation failed', ['Idempotency-Key'], {
  tags,
  operationId: 'createLead',
  summary: 'Create a lead',
  description: 'A phone number is a lead of a campaign once, unless allow_dupplicate is true. One on your do-not-call ' +
    'list is refused.',
  body: example(CreateLeadBody, newLead),
  response: {
    200: after(created, leadExample),
    422: invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another'],
      'secondary_contacts.0.phone_number': ['is required']
    })
  }
}), (services) => (request, reply) => services.handle(request, reply, {
  body: CreateLeadBody,
  facts: (fields) => newLeadFacts(services, request.user.id, fields),
  validate: validateLead,
  ids: ({ secondary_contacts = [] }) => ({ kind: 'lead', count: 1 + secondary_contacts.length }),
  stream: ({ campaign_id, phone_number }) => leadStream(campaign_id, services.phoneHash(phone_number)),
  isNew: true,
  decider: leadDecider,
  answer: async (handled) => {
    const isAllInStream = handled.facts.campaignName !== undefined
    const lead = createdLead(handled.state, handled.ids)
    return { message: created, data: await answerLead(services, reply, lead, handled, isAllInStream) }
  },
  ...kept(services, request, reply)
}))

/** In parallel: the campaign comes from Postgres, the do-not-call list from the event store. */
async function newLeadFacts (
  { positions, pool, blacklists }: ApiServices, userId: string, fields: Partial<CreateLeadBody>
): Promise<LeadFacts> {
  const { campaign_id: id } = fields
  const [campaign, listed] = await Promise.all([
    id === undefined ? undefined : positions.orNotKnown('catalog', () => findCampaignRow(pool, userId, id)),
    blacklists.listed(userId, numbersOf(fields))
  ])
  if (id === undefined) return { listed }
  return { campaignName: campaign?.name ?? null, isCampaignDeleted: campaign?.is_deleted === true, listed }
}

const updated = 'Lead updated successfully'
const updateLead = route('PUT', '/user/lead/:id', command('user', 'Lead update failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'updateLead',
  summary: 'Update a lead',
  description: 'Only the given fields change. variables and secondary_contacts are replaced whole: a secondary contact ' +
    'with its id is kept, one without is new, and one that is left out is gone. Who has a phone number on your ' +
    'do-not-call list stays blacklisted.',
  params: leadPath,
  body: example(UpdateLeadBody, changedLead),
  response: {
    200: after(updated, { ...leadExample, status: 'rescheduled' }),
    404: notFound,
    422: invalid({
      phone_number: ['must stay as it is'], 'secondary_contacts.0.id': ['must be a secondary contact of this lead']
    })
  }
}), (services) => (request, reply) => {
  const id = pathId(request.params.id, leadNotFound)
  return services.handle(request, reply, {
    body: UpdateLeadBody,
    facts: (fields) => lookUpFacts(services, request.user.id, id, fields),
    validate: validateLeadChanges,
    ids: ({ secondary_contacts = [] }) =>
      ({ kind: 'lead', count: secondary_contacts.filter((contact) => contact.id === undefined).length }),
    stream: (_body, _ids, { stream = '' }) => stream,
    decider: oneLeadDecider(id),
    etagBefore,
    async answer (handled) {
      const { state, body, facts } = handled
      const lead = withCalling(state, facts.lead, chosenStatuses(body, state))
      return { message: updated, data: await answerLead(services, reply, lead, handled) }
    },
    ...kept(services, request, reply)
  })
})

/** In parallel, except for the lead's own number, which only the lead tells. */
async function lookUpFacts (
  services: ApiServices, userId: string, id: number, fields: Partial<UpdateLeadBody>
): Promise<LeadOnStream & { listed: Listed }> {
  const [found, ofContacts] = await Promise.all([
    lookUpLead(services, userId, id), services.blacklists.listed(userId, numbersToAsk(fields))
  ])
  const ofLead = await services.blacklists.listed(userId, fields.status === undefined ? [] : [found.lead.phone_number])
  return { ...found, listed: new Set([...ofContacts, ...ofLead]) }
}

const deleted = 'Lead deleted successfully'
const deleteLead = route('DELETE', '/user/lead/:id', command('user', 'Lead deletion failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'deleteLead',
  summary: 'Delete a lead',
  description: 'With its secondary contacts. Its phone number may be created again in the campaign.',
  params: leadPath,
  response: { 200: answered('It is deleted.', Message, { message: deleted }, writeHeaders), 404: notFound }
}), (services) => (request, reply) => {
  const id = pathId(request.params.id, leadNotFound)
  return services.handle(request, reply, {
    facts: () => lookUpLead(services, request.user.id, id),
    validate: () => ({ type: 'delete' as const }),
    stream: (_body, _ids, { stream = '' }) => stream,
    decider: oneLeadDecider(id),
    etagBefore,
    answer: ({ readBack }) => readBack({ source: 'leads', folded: () => ({ message: deleted }) })
  })
})

const filters = {
  campaign_id: Type.Optional(Id({ description: 'Only those of this campaign.' })),
  status: Type.Optional(LeadAnswer.properties.status),
  phone_number: Type.Optional(PhoneBeginning('the phone number')),
  search: Type.Optional(Search('customer_name, email or phone number of the lead, or of one of its secondary contacts')),
  ...updatedFromAlso('by a call, a secondary contact, your do-not-call list or the name of their campaign'),
  ...dateRange('created')
}

const filterOf = (userId: string, query: Static<Type.TObject<typeof filters>>): LeadFilter => ({
  userId,
  campaignId: query.campaign_id,
  status: query.status,
  phonePrefix: beginningOf(query.phone_number),
  searched: query.search,
  updatedFrom: earliest(query.updated_from),
  createdFrom: earliest(query.date_from),
  createdTo: latest(query.date_to)
})

const listLeads = list('/user/leads', {
  source: 'leads',
  perPage: 15,
  keys: ['time', 'whole'],
  item: LeadAnswer,
  example: leadExample,
  filters,
  tags,
  operationId: 'listLeads',
  summary: 'List your leads',
  description: 'Newest first, each with its secondary contacts.'
}, async ({ pool }, page, { user, query }) => {
  const { items, ...place } = await findLeads(pool, filterOf(user.id, query), page)
  return { items: items.map(({ lead, campaignName }) => describeLead(lead, campaignName)), ...place }
})

const FoundLead = Type.Object({
  ...LeadAnswer.properties,
  contact_id: Type.Optional(Id({ description: 'The secondary contact that was asked for; absent for a lead.' }))
}, { title: 'FoundLead' })

const getLead = route('GET', '/user/lead/:id', reading('leads', {
  tags,
  operationId: 'getLead',
  summary: 'Get a lead',
  description: 'The same object as the answer to its creation. By the id of a secondary contact it is its lead, with ' +
    '`contact_id`.',
  params: leadPath,
  response: { 200: answered(whole, One(FoundLead), { data: leadExample }, ['ETag']), 404: notFound }
}), ({ pool }) => async ({ user, params }, reply) => {
  const id = pathId(params.id, leadNotFound)
  const found = await findLead(pool, user.id, id)
  if (!found) throw leadNotFound()
  const contact = found.lead.id !== id && { contact_id: id }
  return { data: { ...tagged(reply, describeLead(found.lead, found.campaignName)), ...contact } }
})

const text = (value: unknown) => typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

function furtherVariables ({ variables: { customer_name: _name, email: _email, ...rest } }: LeadAnswer): string {
  return Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''
}

const exported: Exported<LeadAnswer> = {
  name: 'leads',
  columns: [
    ...namesAsColumns(['id', 'phone_number']),
    ['customer_name', ({ variables }) => text(variables.customer_name)],
    ['email', ({ variables }) => text(variables.email)],
    ...namesAsColumns(['status', 'campaign_id']),
    ['campaign_name', ({ campaign }) => campaign.name],
    ...namesAsColumns(['created_at', 'updated_at']),
    ['variables', furtherVariables],
    ['secondary_contacts', ({ secondary_contacts: contacts }) => contacts.length > 0 ? JSON.stringify(contacts) : '']
  ]
}

const exportLeads = route('GET', '/user/leads/export', reading('leads', {
  tags,
  operationId: 'exportLeads',
  summary: 'Export your leads',
  description: 'All that fit the filters, by id, as they were at one instant. In CSV further variables and secondary ' +
    'contacts are JSON in a column each, and what a spreadsheet would take for a formula begins with an apostrophe. ' +
    '`POST /user/leads/import` makes the same leads of it.',
  querystring: Type.Object({ format, bom, ...filters }),
  response: { 200: exportAnswer('The leads.', exported.name, csvExample(exported, leadExample)) }
}, 'export'), ({ pool }) => async (request, reply) => await sendExport(request, reply, request.query, exported, (visit, signal) =>
  eachLead(pool, filterOf(request.user.id, request.query), (found) =>
    visit(found.map((each) => describeLead(each.lead, each.campaignName))), signal)))

export const leadCommands = [createLead, updateLead, deleteLead]
export const leadQueries = [listLeads, getLead, exportLeads]
