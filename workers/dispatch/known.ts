// What the dispatcher knows of assistants, leads, campaigns and listed numbers: its tables, and how events change them.
import { isOf, type DomainEvent } from '../../src/domain/events.js'
import { assistantEventTypes, type AssistantEvent, type AssistantSettings } from '../../src/features/assistants/events.js'
import { blacklistEventTypes, type BlacklistEvent } from '../../src/features/blacklist/events.js'
import { callEventTypes, type CallEvent } from '../../src/features/calls/events.js'
import { campaignEventTypes, type CampaignEvent } from '../../src/features/campaigns/events.js'
import { idsOf, leadEventTypes, type ContactVariables, type LeadEvent, type LeadStatus } from '../../src/features/leads/events.js'
import { peopleAfter } from '../../src/features/leads/model.js'
import type { Keyed, RowKey, Rows } from '../../projections/engine/projection.js'
import { orNull, type RowOf, table, typed } from '../../projections/engine/table.js'
import type { WebhookChange } from '../deliveries/webhooks.js'

/** The settings that decide whether and what to send. */
const relevantSettings = [
  'assistant_name', 'is_webhook_active', 'webhook_url', 'send_webhook_only_on_completed',
  'include_recording_in_webhook', 'post_call_evaluation', 'post_call_schema'
] as const satisfies (keyof AssistantSettings)[]
type RelevantSettings = Pick<AssistantSettings, typeof relevantSettings[number]>

/** `revision` is that of the last event that changed the row, so reading the log again changes nothing. */
export const assistantTable = table({
  name: 'dispatch_assistants',
  key: 'assistant_id',
  columns: { assistant_id: 'bigint', user_id: 'text', revision: 'bigint', settings: typed<RelevantSettings>('json') },
  isVerbatim: true
})
export type KnownAssistant = RowOf<typeof assistantTable>

/** A lead or a secondary contact. Deleted ones stay, and so do deleted assistants: their calls may end later. */
export const leadTable = table({
  name: 'dispatch_leads',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    campaign_id: 'bigint',
    phone_number: 'text',
    variables: typed<ContactVariables>('json'),
    status: typed<LeadStatus>('text'),
    newest_report_at: orNull('timestamptz'),
    primary_id: orNull('bigint'),
    revision: 'bigint',
    is_erased: 'boolean' // the person; not a contact that only went with its lead
  },
  isVerbatim: true
})
export type KnownLead = RowOf<typeof leadTable>

export const campaignTable = table({
  name: 'dispatch_campaigns',
  key: 'campaign_id',
  columns: { campaign_id: 'bigint', revision: 'bigint', name: typed<string>('json') },
  isVerbatim: true
})

const listingTable = table({
  name: 'dispatch_blacklist', key: 'key', columns: { key: 'text', is_listed: 'boolean', revision: 'bigint' }
})

export const knownTables = [assistantTable, leadTable, campaignTable, listingTable]

/** One number of one user. No number has a space. */
interface Numbered { user_id: string, phone_number: string }
export const listingKey = ({ user_id, phone_number }: Numbered) => `${phone_number} ${user_id}`

export function keysOf (event: DomainEvent): RowKey[] {
  if (isOf<AssistantEvent>(assistantEventTypes, event)) return [[assistantTable, event.data.assistant_id]]
  if (isOf<LeadEvent>(leadEventTypes, event)) return idsOf(event).map((id) => [leadTable, id])
  if (isOf<CampaignEvent>(campaignEventTypes, event)) return [[campaignTable, event.data.campaign_id]]
  if (isOf<BlacklistEvent>(blacklistEventTypes, event)) {
    return numberIn(event).map((number) => [listingTable, listingKey(number)])
  }
  if (!isOf<CallEvent>(callEventTypes, event)) return []
  const { assistant_id, lead_id } = event.data
  return [[assistantTable, assistant_id], ...lead_id === null ? [] : [[leadTable, lead_id] satisfies RowKey]]
}

/** Adds the campaign and the listed number of called persons, who may be known only from this batch. */
export function addKeysOfCalled (batch: readonly Keyed[], rows: Rows): void {
  const called = batch.flatMap(({ event, keys }) =>
    event.type === 'CallCompleted' && event.data.lead_id !== null ? { id: event.data.lead_id, keys } : [])
  if (called.length === 0) return
  const people = new Map<number, Person[]>()
  for (const person of batch.flatMap(({ event }) => peopleIn(event))) {
    people.set(person.id, [...people.get(person.id) ?? [], person])
  }
  for (const { id, keys } of called) {
    for (const person of [rows.get(leadTable, id) ?? [], people.get(id) ?? []].flat()) {
      keys.push([campaignTable, person.campaign_id], [listingTable, listingKey(person)])
    }
  }
}

type Person = Pick<KnownLead, 'id' | 'user_id' | 'campaign_id' | 'phone_number'>

function peopleIn ({ type, data }: DomainEvent): Person[] {
  if (type !== 'LeadCreated' && type !== 'LeadUpdated') return []
  const { lead_id: id, user_id, campaign_id } = data
  const contacts = type === 'LeadCreated'
    ? [{ id, phone_number: data.phone_number }, ...data.secondary_contacts]
    : data.changes.secondary_contacts ?? []
  return contacts.map(({ id, phone_number }) => ({ id, user_id, campaign_id, phone_number }))
}

/** The number that an event lists or unlists; none if it was erased. */
function numberIn ({ data }: BlacklistEvent): Numbered[] {
  return 'phone_number' in data && data.phone_number !== undefined && data.phone_number !== null
    ? [{ user_id: data.user_id, phone_number: data.phone_number }]
    : []
}

/** Folds an event that is not a call. @returns how the webhook of an assistant changed, if so */
export function learn (event: DomainEvent, revision: number, rows: Rows): WebhookChange | undefined {
  if (isOf<LeadEvent>(leadEventTypes, event)) learnPeople(event, revision, rows)
  if (isOf<BlacklistEvent>(blacklistEventTypes, event)) learnListing(event, revision, rows)
  const { type, data } = event
  switch (type) {
    case 'AssistantCreated': {
      const { assistant_id, user_id, settings } = data
      if (rows.get(assistantTable, assistant_id)) return undefined
      return putAssistant(rows, { assistant_id, user_id, revision, settings: pickRelevant(settings) })
    }
    case 'AssistantUpdated':
    case 'AssistantDeleted': {
      const known = rows.get(assistantTable, data.assistant_id)
      if (!known || known.revision >= revision) return undefined
      if (type === 'AssistantDeleted') return { ...putAssistant(rows, { ...known, revision }), is_deleted: true }
      const { changes } = data
      const settings = { ...known.settings, ...pickRelevant(changes) }
      const change = putAssistant(rows, { ...known, revision, settings })
      const isOfWebhook = changes.is_webhook_active !== undefined || changes.webhook_url !== undefined
      return isOfWebhook ? { ...change, switchedOn: changes.is_webhook_active === true } : undefined
    }
    case 'CampaignCreated':
    case 'CampaignRenamed': {
      const { campaign_id, name } = data
      const known = rows.get(campaignTable, campaign_id)
      if (!known || known.revision < revision) rows.put(campaignTable, { campaign_id, revision, name })
      return undefined
    }
    default: return undefined
  }
}

function learnListing (event: BlacklistEvent, revision: number, rows: Rows): void {
  for (const key of numberIn(event).map(listingKey)) {
    const known = rows.get(listingTable, key)
    if (known && known.revision >= revision) continue
    rows.put(listingTable, { key, is_listed: event.type === 'PhoneNumberBlacklisted', revision })
  }
}

function putAssistant (rows: Rows, assistant: KnownAssistant): WebhookChange {
  rows.put(assistantTable, assistant)
  const { assistant_id, user_id, settings: { webhook_url: url, is_webhook_active: is_on } } = assistant
  return { assistant_id, user_id, url, is_on, switchedOn: false }
}

function pickRelevant<Given extends Partial<AssistantSettings>> (
  settings: Given
): Pick<Given, keyof Given & keyof RelevantSettings> {
  const picked = relevantSettings.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]])
  return Object.fromEntries(picked)
}

/** No webhook shows these. */
const unkept = { place: 0, created_at: '', updated_at: '', is_to_erase: false, number_digest: null }

function learnPeople (event: LeadEvent, revision: number, rows: Rows): void {
  if (event.type === 'LeadUpdated' && !rows.get(leadTable, event.data.lead_id)) return
  const same = sameAfter(event)
  const people = peopleAfter(event, (id) => {
    const known = rows.get(leadTable, id)
    return known && { ...known, ...unkept }
  })
  for (const person of people) {
    const known = rows.get(leadTable, person.id)
    if (same.includes(person.id) || (known && known.revision >= revision)) continue
    rows.put(leadTable, { ...person, status: person.status === 'deleted' ? 'created' : person.status, revision })
  }
}

/** Rows to keep: calls may still name a removed contact, and a lead whose contact is erased changes only its time. */
function sameAfter ({ type, data }: LeadEvent): number[] {
  if (type === 'LeadUpdated') return data.removed_contacts
  return type === 'LeadErased' && !data.with_lead ? [data.lead_id] : []
}

/** If the number is listed, the person is blacklisted, whatever their own status is. */
export const asListed = (rows: Rows, lead: KnownLead): KnownLead =>
  rows.get(listingTable, listingKey(lead))?.is_listed ? { ...lead, status: 'blacklisted' } : lead
