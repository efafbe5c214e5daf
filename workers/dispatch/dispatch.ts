// CallCompleted -> delivery row: decides by the position of the call in the log whether and what to send.
import type { EventType } from '../../src/domain/events.js'
import type { CallCompleted, CallErased } from '../../src/features/calls/events.js'
import { afterCall } from '../../src/features/leads/model.js'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import type { Consumer } from '../../src/subscriptions/run.js'
import { dispatcher as name } from '../../projections/engine/parked.js'
import type { LogPosition, Projection, Rows } from '../../projections/engine/projection.js'
import { Writer } from '../../projections/engine/writer.js'
import { DispatchEffects, type DispatcherOptions, type NewDelivery, rowOf, type SkipReason } from './effects.js'
import {
  addKeysOfCalled, asListed, assistantTable, campaignTable, keysOf, knownTables, leadTable, learn, type KnownAssistant,
  type KnownLead
} from './known.js'
import { buildBody } from './payload.js'

export const eventTypes: readonly EventType[] = [
  'AssistantCreated', 'AssistantUpdated', 'AssistantDeleted', 'LeadCreated', 'LeadUpdated', 'LeadStatusChanged', 'LeadErased',
  'CampaignCreated', 'CampaignRenamed', 'PhoneNumberBlacklisted', 'PhoneNumberUnblacklisted', 'CallCompleted', 'CallErased'
]
/** Only later calls need these, so they may wait for a batch. */
const deferred: ReadonlySet<string> = new Set<EventType>(
  ['AssistantCreated', 'LeadCreated', 'LeadUpdated', 'LeadStatusChanged', 'CampaignCreated', 'CampaignRenamed'])

/**
 * The subscription that gives every call exactly one row in the delivery log. It keeps what it needs to know in
 * tables of its own, so a decision depends only on the log up to the call.
 */
export function dispatcher (options: DispatcherOptions): Consumer {
  return {
    name,
    eventTypes,
    isDeferred: ({ type }) => deferred.has(type),
    async open () {
      const writer = new Writer(dispatching(new DispatchEffects(options)), 0, options.pool, { refuse: async () => {} })
      return {
        checkpointTable: dispatcherCheckpoint,
        write: (batch, from, epoch) => writer.write(batch, from, epoch)
      }
    }
  }
}

export const dispatching = (effects: DispatchEffects): Projection => ({
  name,
  version: 1,
  eventTypes,
  creating: ['AssistantCreated', 'LeadCreated', 'CampaignCreated'],
  tables: knownTables,
  effects,
  keys: keysOf,
  keysBehind: addKeysOfCalled,
  project (event, at, rows) {
    switch (event.type) {
      case 'CallCompleted': return dispatchCall(effects, rows, at, event.data)
      case 'CallErased': return dispatchErased(effects, rows, at, event.data)
      default: {
        const change = learn(event, Number(at.revision), rows)
        if (change) effects.follow(change, at.position)
      }
    }
  }
})

/** Adds a row for the first event of a call, and counts later events as duplicates. */
function dispatchCall (effects: DispatchEffects, rows: Rows, at: LogPosition, call: CallCompleted): void {
  const lost = lostLead(rows, call)
  const isNew = !effects.isRetry && !effects.isKnownCall(call.call_id, at.position)
  if (isNew) effects.add(deliveryOf(effects, rows, at, call))
  if (lost === undefined || (!isNew && !effects.isRetry)) return
  effects.parked.push({ stored: { ...at, type: 'CallCompleted' }, error: `${lost}: the webhook says that there is none` })
}

function deliveryOf (effects: DispatchEffects, rows: Rows, at: LogPosition, call: CallCompleted): NewDelivery {
  const assistant = rows.get(assistantTable, call.assistant_id)
  const row = rowOf(at, call.call_id, call.assistant_id, assistant?.user_id)
  if (!assistant) return { ...row, skipped: 'unknown_assistant' }
  moveLead(rows, call, assistant, at.created)
  if (isOfErased(rows, call, assistant)) return { ...row, skipped: 'erased' }
  const { user_id } = assistant
  const reason = skipReason(call, assistant)
  if (reason) return { ...row, skipped: reason }
  const body = bodyOf(rows, call, at.created, assistant)
  return { ...row, user_id, body, skipped: effects.isRestored(at.position) ? 'restored' : undefined }
}

/** With the settings, lead and campaign of `rows`. */
export function bodyOf (rows: Rows, call: CallCompleted, at: Date, assistant: KnownAssistant): string {
  const lead = sentLead(rows, call, assistant)
  const campaignName = lead && rows.get(campaignTable, lead.campaign_id)?.name
  return buildBody({ call, at, assistant, lead: lead && asListed(rows, lead), campaignName })
}

/** Adds a row if the log has only the erasure of the call. If the call has a row, it sends nothing from now on. */
function dispatchErased (effects: DispatchEffects, rows: Rows, at: LogPosition, call: CallErased): void {
  if (effects.isRetry || effects.isErasedCall(call.call_id, at.position)) return
  const assistant = rows.get(assistantTable, call.assistant_id)
  if (assistant) moveLead(rows, call, assistant, at.created)
  effects.add({ ...rowOf(at, call.call_id, call.assistant_id, assistant?.user_id), skipped: 'erased' })
}

function skipReason (call: CallCompleted, { settings }: KnownAssistant): SkipReason | undefined {
  if (!settings.is_webhook_active || settings.webhook_url === null) return 'webhook_off'
  if (settings.send_webhook_only_on_completed && call.status !== 'completed') return 'not_completed'
  return undefined
}

const leadIn = (rows: Rows, { lead_id }: CallCompleted | CallErased) =>
  lead_id === null ? undefined : rows.get(leadTable, lead_id)

/** Nothing if it is unknown, erased or another user's. */
function sentLead (rows: Rows, call: CallCompleted | CallErased, { user_id }: KnownAssistant): KnownLead | undefined {
  const lead = leadIn(rows, call)
  return lead?.phone_number !== '' && lead?.user_id === user_id ? lead : undefined
}

/** Leaves the lead or contact as the call does. */
function moveLead (
  rows: Rows, call: CallCompleted | CallErased, assistant: KnownAssistant, recorded: Date
): void {
  const lead = sentLead(rows, call, assistant)
  if (!lead) return
  const left = 'lead_left' in call ? call.lead_left : undefined
  const { status, newest_report_at } = left ?? afterCall(lead, call, recorded) ?? lead
  rows.put(leadTable, { ...lead, status, newest_report_at })
}

/** An erasure of the report follows soon, so nothing of it is kept here or sent. */
function isOfErased (rows: Rows, call: CallCompleted, { user_id }: KnownAssistant): boolean {
  const lead = leadIn(rows, call)
  return lead?.is_erased === true && lead.user_id === user_id
}

/** Why the webhook of a call that names a lead has no lead. */
function lostLead (rows: Rows, call: CallCompleted): string | undefined {
  const { assistant_id, lead_id } = call
  const owner = rows.get(assistantTable, assistant_id)?.user_id
  const lead = leadIn(rows, call)
  if (lead_id === null || owner === undefined || lead?.user_id === owner) return undefined
  return lead
    ? `lead ${lead_id} belongs to another user than the assistant`
    : `lead ${lead_id} is not known at this position of the log`
}
