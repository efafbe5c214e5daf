// What the dispatcher knows of assistants, leads, campaigns and listed numbers: its tables, and how events change them.
import type { DomainEvent } from '../../src/domain/events.js'
import type { AssistantEvent, AssistantSettings } from '../../src/features/assistants/events.js'
import type { BlacklistEvent } from '../../src/features/blacklist/events.js'
import { erasedIds, idsOf, isErasedPerson, type LeadErasedEvent, type LeadEvent } from '../../src/features/leads/events.js'
import { type Calling, leadOf } from '../../src/features/leads/model.js'
import type { Keyed, RowKey, Rows } from '../../projections/engine/projection.js'
import { table } from '../../projections/engine/table.js'
import type { SettingsChange } from '../deliveries/follow-settings.js'
import { relevantSettings, type PayloadAssistant, type PayloadLead, type RelevantSettings } from './payload.js'

/** `revision` is that of the last event of its stream that changed a row: a log that is read again changes nothing. */
export interface KnownAssistant extends PayloadAssistant { revision: number }

/** A lead or a secondary contact. One that was deleted stays known, as does its assistant: its calls may end later. */
export interface KnownLead extends PayloadLead, Calling {
  revision: number
  /** It is the person that was erased; a contact that only went with its lead is not. */
  is_erased: boolean
}

export const assistantTable = table<KnownAssistant>({
  name: 'dispatch_assistants',
  key: 'assistant_id',
  columns: { assistant_id: 'bigint', user_id: 'text', revision: 'bigint', settings: 'json' },
  isVerbatim: true
})

export const leadTable = table<KnownLead>({
  name: 'dispatch_leads',
  key: 'id',
  columns: {
    id: 'bigint',
    user_id: 'text',
    campaign_id: 'bigint',
    phone_number: 'text',
    variables: 'json',
    status: 'text',
    newest_report_at: 'timestamptz',
    primary_id: 'bigint',
    revision: 'bigint',
    is_erased: 'boolean'
  },
  isVerbatim: true
})

export const campaignTable = table<{ campaign_id: number, revision: number, name: string }>({
  name: 'dispatch_campaigns',
  key: 'campaign_id',
  columns: { campaign_id: 'bigint', revision: 'bigint', name: 'json' },
  isVerbatim: true
})

const listingTable = table<{ key: string, is_listed: boolean, revision: number }>({
  name: 'dispatch_blacklist', key: 'key', columns: { key: 'text', is_listed: 'boolean', revision: 'bigint' }
})

export const knownTables = [assistantTable, leadTable, campaignTable, listingTable]

/** One number of one user. No number has a space. */
interface Numbered { user_id: string, phone_number: string }
export const listingKey = ({ user_id, phone_number }: Numbered) => `${phone_number} ${user_id}`

export function keysOf (event: DomainEvent): RowKey[] {
  const { type, data } = event
  switch (type) {
    case 'AssistantCreated':
    case 'AssistantUpdated': return [[assistantTable, data.assistant_id]]
    case 'LeadCreated':
    case 'LeadUpdated':
    case 'LeadStatusChanged':
    case 'LeadErased': return idsOf(event).map((id) => [leadTable, id])
    case 'CampaignCreated':
    case 'CampaignRenamed': return [[campaignTable, data.campaign_id]]
    case 'PhoneNumberBlacklisted':
    case 'PhoneNumberUnblacklisted': return numberIn(event).map((number) => [listingTable, listingKey(number)])
    case 'CallCompleted':
    case 'CallErased': {
      const assistant: RowKey = [assistantTable, data.assistant_id]
      return data.lead_id === null ? [assistant] : [assistant, [leadTable, data.lead_id]]
    }
    default: return []
  }
}

/** Of who was called: the campaign, and whether the number is listed. They may be known from this very batch. */
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

/** The number that an event lists or takes off; none where it was erased. */
function numberIn ({ data }: BlacklistEvent): Numbered[] {
  return 'phone_number' in data && data.phone_number !== undefined && data.phone_number !== null
    ? [{ user_id: data.user_id, phone_number: data.phone_number }]
    : []
}

type Data<Event extends { type: string, data: object }, Type extends Event['type']> =
  Extract<Event, { type: Type }>['data']

/** What an event that is no call makes known. @returns how the webhook of an assistant changed, if so */
export function learn (event: DomainEvent, revision: number, rows: Rows): SettingsChange | undefined {
  const { type, data } = event
  switch (type) {
    case 'AssistantCreated': {
      const { assistant_id, user_id, settings } = data
      if (rows.get(assistantTable, assistant_id)) return undefined
      rows.put(assistantTable, { assistant_id, user_id, revision, settings: pickRelevant(settings) })
      return undefined
    }
    case 'AssistantUpdated': return updateAssistant(data, revision, rows)
    case 'LeadCreated': {
      createLead(data, revision, rows)
      return undefined
    }
    case 'LeadUpdated': {
      updateLead(data, revision, rows)
      return undefined
    }
    case 'LeadStatusChanged': {
      const known = rows.get(leadTable, data.contact_id ?? data.lead_id)
      if (known && known.revision < revision) rows.put(leadTable, { ...known, status: data.status, revision })
      return undefined
    }
    case 'LeadErased': {
      putErased(data, erasedIds(event), revision, rows)
      return undefined
    }
    case 'CampaignCreated':
    case 'CampaignRenamed': {
      const { campaign_id, name } = data
      const known = rows.get(campaignTable, campaign_id)
      if (!known || known.revision < revision) rows.put(campaignTable, { campaign_id, revision, name })
      return undefined
    }
    case 'PhoneNumberBlacklisted':
    case 'PhoneNumberUnblacklisted': {
      for (const key of numberIn(event).map(listingKey)) {
        const known = rows.get(listingTable, key)
        if (known && known.revision >= revision) continue
        rows.put(listingTable, { key, is_listed: type === 'PhoneNumberBlacklisted', revision })
      }
      return undefined
    }
    default: return undefined
  }
}

function updateAssistant (
  { assistant_id, changes }: Data<AssistantEvent, 'AssistantUpdated'>, revision: number, rows: Rows
): SettingsChange | undefined {
  const known = rows.get(assistantTable, assistant_id)
  if (!known || known.revision >= revision) return undefined
  const settings = { ...known.settings, ...pickRelevant(changes) }
  rows.put(assistantTable, { ...known, revision, settings })
  if (changes.is_webhook_active === undefined && changes.webhook_url === undefined) return undefined
  const url = settings.is_webhook_active ? settings.webhook_url : null
  return { assistant_id, user_id: known.user_id, url, switchedOn: changes.is_webhook_active === true }
}

function pickRelevant<Given extends Partial<AssistantSettings>> (
  settings: Given
): Pick<Given, keyof Given & keyof RelevantSettings> {
  const picked = relevantSettings.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]])
  return Object.fromEntries(picked)
}

function createLead (data: Data<LeadEvent, 'LeadCreated'>, revision: number, rows: Rows): void {
  const { id: primary, user_id, campaign_id, secondary_contacts, ...lead } = leadOf({ type: 'LeadCreated', data })
  const shared = { user_id, campaign_id, newest_report_at: null, revision, is_erased: false }
  for (const { id, phone_number, variables, status } of [{ ...lead, id: primary }, ...secondary_contacts]) {
    if (rows.get(leadTable, id)) continue
    rows.put(leadTable, { ...shared, id, primary_id: id === primary ? null : primary, phone_number, variables, status })
  }
  putErased(data, data.erased_contacts, revision, rows)
}

/** Contacts that the lead does not have any more stay known: their calls may still be reported. */
function updateLead (data: Data<LeadEvent, 'LeadUpdated'>, revision: number, rows: Rows): void {
  const { lead_id, changes } = data
  const lead = rows.get(leadTable, lead_id)
  if (!lead) return
  const { user_id, campaign_id } = lead
  const fresh = {
    user_id, campaign_id, primary_id: lead_id, status: 'created' as const, newest_report_at: null, is_erased: false
  }
  const given = [{ ...lead, variables: changes.variables ?? lead.variables }, ...changes.secondary_contacts ?? []]
  for (const { id, phone_number, variables } of given) {
    const known = rows.get(leadTable, id)
    if (known && known.revision >= revision) continue
    rows.put(leadTable, { ...fresh, ...known, id, phone_number, variables, revision })
  }
  putErased(data, data.erased_contacts, revision, rows)
}

/** Contacts alone, or with their lead. */
type ErasedOf = Pick<LeadErasedEvent['data'], 'lead_id' | 'user_id' | 'campaign_id'> & { with_lead?: boolean }

function putErased (erased: ErasedOf, ids: readonly number[] = [], revision: number, rows: Rows): void {
  for (const id of ids) {
    const known = rows.get(leadTable, id)
    if (known && known.revision >= revision) continue
    rows.put(leadTable, {
      id,
      primary_id: id === erased.lead_id ? null : erased.lead_id,
      user_id: erased.user_id,
      campaign_id: erased.campaign_id,
      phone_number: '',
      variables: { customer_name: '', email: '' },
      status: 'created',
      newest_report_at: null,
      revision,
      is_erased: known?.is_erased === true || isErasedPerson(erased, id)
    })
  }
}

/** Whose number is listed is blacklisted, whatever their own status is. */
export const asListed = (rows: Rows, lead: KnownLead): KnownLead =>
  rows.get(listingTable, listingKey(lead))?.is_listed ? { ...lead, status: 'blacklisted' } : lead
