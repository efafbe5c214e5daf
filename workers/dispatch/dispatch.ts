// CallCompleted -> delivery row: decides by the place of the call in the log whether and what to send.
import type { PoolClient } from 'pg'
import type { Consumer } from '../../src/subscriptions/run.js'
import type { CallCompleted } from '../../src/domain/call/events.js'
import type { DomainEvent } from '../../src/domain/events.js'
import { statusAfterCall } from '../../src/domain/lead/status-after-call.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { uuidV5 } from '../../src/event-store/event-id.js'
import type { DispatchState, KnownAssistant, KnownLead } from './state.js'
import { loadState, saveState, type Again } from './tables.js'
import { followSettings } from '../deliveries/follow-settings.js'
import { countDuplicates, insertDeliveries, type NewDelivery, type SkipReason } from './new-deliveries.js'
import { buildBody } from './payload.js'
import { park } from './park.js'
import { readEvent } from './read-event.js'

export interface DispatcherOptions {
  /** Wait before the first attempt, in milliseconds. */
  firstDelayMs: number
  /** Called after the commit with the users whose deliveries changed. */
  onDispatched (userIds: Iterable<string>): void
  log: { warn (details: object, message: string): void }
}

const consumerName = 'dispatcher'
const callType = 'call.completed'
const idNamespace = '3f1d5f0e-6b4c-5a53-9a8e-0f8f3b7c2d61'

/** The `webhook-id` of a call: always the same for one call. */
export const deliveryId = (callId: string) => uuidV5(idNamespace, `${callId}:${callType}`)

/**
 * The consumer that gives every call exactly one row in the ledger. It keeps what it needs to know in tables of its
 * own, so a decision depends on nothing but the log up to the call.
 */
export function dispatcher ({ firstDelayMs, onDispatched, log }: DispatcherOptions): Consumer {
  return {
    name: consumerName,
    eventTypes: ['AssistantCreated', 'AssistantUpdated', 'LeadCreated', 'CampaignCreated', 'CampaignRenamed', 'CallCompleted'],
    async open () {
      let touched = new Set<string>()
      return {
        checkpointTable: 'ledger.dispatcher_checkpoint',
        async handle (tx, { events }) {
          touched = await dispatchBatch(tx, events, firstDelayMs, log)
        },
        committed: () => onDispatched(touched)
      }
    }
  }
}

/** Writes what `events` mean. @returns the users whose deliveries may be due now */
async function dispatchBatch (tx: PoolClient, events: StoredEvent[], firstDelayMs: number, log: DispatcherOptions['log']): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const read = events.map(readEvent)
  const { state, again } = await loadState(tx, read.flatMap(({ event }) => event ?? []), read.flatMap(({ callId }) => callId ?? []))
  const deliveries: NewDelivery[] = []
  for (const { stored, event, callId, problem } of read) {
    if (problem !== undefined) log.warn({ stream: stored.stream, revision: String(stored.revision), problem }, 'event is malformed')
    if (callId !== undefined) {
      const call = event?.type === 'CallCompleted' ? event.data : undefined
      const added = dispatchCall(state, stored, callId, call, again)
      deliveries.push(...added)
      const lost = added.length > 0 && call && lostLead(state, call)
      if (lost) await park(tx, consumerName, stored, `${lost}: the webhook says that there is none`)
    } else if (event) applyEvent(state, stored, event)
    else if (problem !== undefined) await park(tx, consumerName, stored, problem)
    if (stored.position <= again.rereadUntil) state.forgetEffects()
  }
  await saveState(tx, state)
  await insertDeliveries(tx, deliveries, firstDelayMs)
  await countDuplicates(tx, state.duplicates)
  await followSettings(tx, [...state.rerouted.values()])
  return new Set([...deliveries, ...state.rerouted.values()].flatMap(({ user_id }) => user_id ?? []))
}

function applyEvent (state: DispatchState, stored: StoredEvent, { type, data }: DomainEvent): void {
  switch (type) {
    case 'AssistantCreated': return state.assistantCreated(data, stored.revision)
    case 'AssistantUpdated': return state.assistantUpdated(data, stored.revision)
    case 'LeadCreated': return state.leadCreated(data)
    case 'CampaignCreated':
    case 'CampaignRenamed': return state.campaignNamed(data, stored.revision)
    default: // not subscribed to, or dispatched as a call
  }
}

/** The row of a call's first event; later ones are counted. A call that cannot be read has no `call`. */
function dispatchCall (state: DispatchState, stored: StoredEvent, callId: string, call: CallCompleted | undefined, { skipUntil }: Again): NewDelivery[] {
  if (state.isKnownCall(callId, stored.position)) return []
  const assistant = call && state.assistants.get(call.assistant_id)
  const lead = call && assistant && movedLead(state, call, assistant)
  const row = {
    id: deliveryId(callId),
    call_id: callId,
    type: callType,
    user_id: assistant?.user_id ?? null,
    assistant_id: call?.assistant_id ?? null,
    position: stored.position
  }
  if (!call) return [{ ...row, skipped: 'invalid' }]
  if (!assistant) return [{ ...row, skipped: 'unknown_assistant' }]
  const { is_webhook_active, webhook_url } = assistant.settings
  const reason = skipReason(call, assistant)
  if (reason || !is_webhook_active || webhook_url === null) return [{ ...row, skipped: reason ?? 'webhook_off' }]
  const campaignName = lead && state.campaigns.get(lead.campaign_id)?.name
  const body = buildBody({ call, at: stored.created, assistant, lead, campaignName })
  return [{ ...row, user_id: assistant.user_id, url: webhook_url, body, skipped: stored.position <= skipUntil ? 'restored' : undefined }]
}

function skipReason (call: CallCompleted, { settings }: KnownAssistant): SkipReason | undefined {
  if (!settings.is_webhook_active) return 'webhook_off'
  if (settings.send_webhook_only_on_completed && call.status !== 'completed') return 'not_completed'
  return undefined
}

/** Why a call that names a lead is sent without one. */
function lostLead ({ assistants, leads }: DispatchState, { assistant_id, lead_id }: CallCompleted): string | undefined {
  const owner = assistants.get(assistant_id)?.user_id
  if (lead_id === null || owner === undefined || leads.get(lead_id)?.user_id === owner) return undefined
  return `lead ${lead_id} ${leads.has(lead_id) ? 'belongs to another user than the assistant' : 'is not known at this place in the log'}`
}

/** The lead or secondary contact of a call as it stands after it; none when it is unknown or of another user. */
function movedLead (state: DispatchState, call: CallCompleted, assistant: KnownAssistant): KnownLead | undefined {
  const lead = call.lead_id === null ? undefined : state.leads.get(call.lead_id)
  if (!lead || lead.user_id !== assistant.user_id) return undefined
  return state.leadMoved(lead, statusAfterCall(call) ?? lead.status)
}
