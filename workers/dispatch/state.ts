// What the dispatcher knows of assistants, leads and campaigns, and how a batch changes it.
import type { AssistantEvent } from '../../src/domain/assistant/events.js'
import type { AssistantSettings } from '../../src/domain/assistant/settings.js'
import type { CatalogEvent } from '../../src/domain/catalog/events.js'
import type { Calling } from '../../src/domain/lead/after-call.js'
import { leadOf } from '../../src/domain/lead/evolve.js'
import type { LeadEvent } from '../../src/domain/lead/events.js'
import type { SettingsChange } from '../deliveries/follow-settings.js'
import type { Duplicate } from './new-deliveries.js'
import { relevantSettings, type PayloadAssistant, type PayloadLead, type RelevantSettings } from './payload.js'

export interface KnownAssistant extends PayloadAssistant { revision: bigint }
export interface KnownLead extends PayloadLead, Calling {}
export interface KnownCampaign { campaign_id: number, revision: bigint, name: string }

type Data<Event extends { type: string, data: object }, Type extends Event['type']> =
  Extract<Event, { type: Type }>['data']

/** The state that a batch touches. An event that is already in it, because the log is read again, changes nothing. */
export class DispatchState {
  readonly assistants = new Map<number, KnownAssistant>()
  readonly leads = new Map<number, KnownLead>()
  readonly campaigns = new Map<number, KnownCampaign>()
  /** Position of the newest event of each call that has a row. */
  readonly calls = new Map<string, bigint>()

  readonly changed = { assistants: new Set<number>(), leads: new Set<number>(), campaigns: new Set<number>() }
  readonly rerouted = new Map<number, SettingsChange>()
  readonly duplicates: Duplicate[] = []

  assistantCreated (data: Data<AssistantEvent, 'AssistantCreated'>, revision: bigint): void {
    const { assistant_id, user_id, settings } = data
    if (this.assistants.has(assistant_id)) return
    this.assistants.set(assistant_id, { assistant_id, user_id, revision, settings: pickRelevant(settings) })
    this.changed.assistants.add(assistant_id)
  }

  assistantUpdated ({ assistant_id, changes }: Data<AssistantEvent, 'AssistantUpdated'>, revision: bigint): void {
    const known = this.assistants.get(assistant_id)
    if (!known || known.revision >= revision) return
    const settings = { ...known.settings, ...pickRelevant(changes) }
    this.assistants.set(assistant_id, { ...known, revision, settings })
    this.changed.assistants.add(assistant_id)
    if (changes.is_webhook_active === undefined && changes.webhook_url === undefined) return
    const switchedOn = changes.is_webhook_active === true || this.rerouted.get(assistant_id)?.switchedOn === true
    const url = settings.is_webhook_active ? settings.webhook_url : null
    this.rerouted.set(assistant_id, { assistant_id, user_id: known.user_id, url, switchedOn })
  }

  leadCreated (data: LeadEvent['data']): void {
    const { secondary_contacts, ...lead } = leadOf({ type: 'LeadCreated', data })
    for (const { id, phone_number, variables, status } of [lead, ...secondary_contacts]) {
      if (this.leads.has(id)) continue
      const { user_id, campaign_id } = lead
      this.leads.set(id, { id, user_id, campaign_id, phone_number, variables, status, newest_report_at: null })
      this.changed.leads.add(id)
    }
  }

  leadMoved (lead: KnownLead, { status, newest_report_at }: Calling): KnownLead {
    const moved = { ...lead, status, newest_report_at }
    this.leads.set(lead.id, moved)
    this.changed.leads.add(lead.id)
    return moved
  }

  campaignNamed ({ campaign_id, name }: Data<CatalogEvent, 'CampaignCreated'>, revision: bigint): void {
    const known = this.campaigns.get(campaign_id)
    if (known && known.revision >= revision) return
    this.campaigns.set(campaign_id, { campaign_id, revision, name })
    this.changed.campaigns.add(campaign_id)
  }

  /** Whether the call has its row; a newer event of it is noted as a duplicate. */
  isKnownCall (call_id: string, position: bigint): boolean {
    const last = this.calls.get(call_id)
    if (last !== undefined && last < position) this.duplicates.push({ call_id, position })
    if (last === undefined || last < position) this.calls.set(call_id, position)
    return last !== undefined
  }

  /** The events so far were acted on before they were read again: what they make known stays. */
  forgetEffects (): void {
    this.rerouted.clear()
    this.duplicates.length = 0
  }
}

function pickRelevant<Given extends Partial<AssistantSettings>> (
  settings: Given
): Pick<Given, keyof Given & keyof RelevantSettings> {
  const picked = relevantSettings.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]])
  return Object.fromEntries(picked)
}
