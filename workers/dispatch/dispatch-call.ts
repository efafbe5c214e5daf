// The delivery row of one call, decided from the dispatch state.
import type { CallCompleted, CallErased } from '../../src/features/calls/events.js'
import { afterCall } from '../../src/features/leads/model.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { traceParent } from '../../src/tracing/tracing.js'
import { callType, deliveryId } from './delivery-id.js'
import type { NewDelivery, SkipReason } from './new-deliveries.js'
import { buildBody } from './payload.js'
import { isNobody, type KnownAssistant, type KnownLead } from './state/known.js'
import type { DispatchState } from './state/state.js'

/**
 * The row of a call's first event; later events are counted as duplicates. A call that cannot be read has no `call`.
 * @param skipUntil up to this position a lost database knew of the calls, and may have sent them
 */
export function dispatchCall (
  state: DispatchState, stored: StoredEvent, callId: string, call: CallCompleted | undefined, skipUntil: bigint
): NewDelivery[] {
  if (state.isKnownCall(callId, stored.position)) return []
  const assistant = call && state.assistants.get(call.assistant_id)
  const lead = call && assistant && movedLead(state, call, assistant)
  const row = rowOf(state, stored, callId, call?.assistant_id)
  if (!call) return [{ ...row, skipped: 'invalid' }]
  if (!assistant) return [{ ...row, skipped: 'unknown_assistant' }]
  if (isOfErased(state, call, assistant)) return [{ ...row, skipped: 'erased' }]
  const { user_id, settings: { is_webhook_active, webhook_url: url } } = assistant
  const reason = skipReason(call, assistant)
  if (reason || !is_webhook_active || url === null) return [{ ...row, skipped: reason ?? 'webhook_off' }]
  const campaignName = lead && state.campaigns.get(lead.campaign_id)?.name
  const body = buildBody({ call, at: stored.created, assistant, lead: lead && asListed(state, lead), campaignName })
  return [{ ...row, user_id, url, body, skipped: stored.position <= skipUntil ? 'restored' : undefined }]
}

/** A call of which the log has nothing else any more gets its row; one that has one sends nothing any more. */
export function dispatchErased (state: DispatchState, stored: StoredEvent, call: CallErased): NewDelivery[] {
  if (state.callErased(call.call_id, stored.position)) return []
  const assistant = state.assistants.get(call.assistant_id)
  if (assistant) movedLead(state, call, assistant)
  return [{ ...rowOf(state, stored, call.call_id, call.assistant_id), skipped: 'erased' }]
}

function rowOf (state: DispatchState, stored: StoredEvent, callId: string, assistantId: number | undefined) {
  return {
    id: deliveryId(callId),
    call_id: callId,
    type: callType,
    user_id: (assistantId !== undefined && state.assistants.get(assistantId)?.user_id) || null,
    assistant_id: assistantId ?? null,
    position: stored.position,
    traceparent: traceParent(stored.metadata.traceparent)
  }
}

function skipReason (call: CallCompleted, { settings }: KnownAssistant): SkipReason | undefined {
  if (!settings.is_webhook_active) return 'webhook_off'
  if (settings.send_webhook_only_on_completed && call.status !== 'completed') return 'not_completed'
  return undefined
}

/** The lead or secondary contact of a call as it is after it; nothing when it is unknown, erased or of another user. */
function movedLead (
  state: DispatchState, call: CallCompleted | CallErased, assistant: KnownAssistant
): KnownLead | undefined {
  const lead = call.lead_id === null ? undefined : state.leads.get(call.lead_id)
  if (!lead || isNobody(lead) || lead.user_id !== assistant.user_id) return undefined
  const left = 'lead_left' in call ? call.lead_left : undefined
  return state.leadMoved(lead, left ?? afterCall(lead, call) ?? lead)
}

/** Its report is erased soon: nothing of it is kept here, or sent. */
function isOfErased ({ leads }: DispatchState, call: CallCompleted, { user_id }: KnownAssistant): boolean {
  const lead = call.lead_id === null ? undefined : leads.get(call.lead_id)
  return lead?.is_erased === true && lead.user_id === user_id
}

/** Whose number is listed is blacklisted, whatever their own status is. */
const asListed = ({ listings }: DispatchState, lead: KnownLead): KnownLead =>
  listings.isListed(lead) ? { ...lead, status: 'blacklisted' } : lead

/** Why the webhook of a call that names a lead has no lead. */
export function lostLead (
  { assistants, leads }: DispatchState, { assistant_id, lead_id }: CallCompleted
): string | undefined {
  const owner = assistants.get(assistant_id)?.user_id
  if (lead_id === null || owner === undefined || leads.get(lead_id)?.user_id === owner) return undefined
  return leads.has(lead_id)
    ? `lead ${lead_id} belongs to another user than the assistant`
    : `lead ${lead_id} is not known at this position of the log`
}
