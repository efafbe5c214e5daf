// What the dispatcher knows of assistants, leads and campaigns, and how a batch changes it.
import type { AssistantEvent } from '../../../src/features/assistants/events.js'
import type { CampaignEvent } from '../../../src/features/campaigns/events.js'
import { type Calling, leadOf } from '../../../src/features/leads/model.js'
import { erasedIds, type LeadErasedEvent, type LeadEvent } from '../../../src/features/leads/events.js'
import type { SettingsChange } from '../../deliveries/follow-settings.js'
import type { Duplicate } from '../new-deliveries.js'
import { erasedRow, pickRelevant, type KnownAssistant, type KnownCampaign, type KnownLead } from './known.js'
import { idsByTable, KnownRows } from './known-rows.js'
import { Listings } from './listings.js'

type Data<Event extends { type: string, data: object }, Type extends Event['type']> =
  Extract<Event, { type: Type }>['data']

/** The state that batches touch. An event that is already in it, because the log is read again, changes nothing. */
export class DispatchState {
  readonly assistants = new KnownRows<KnownAssistant>()
  readonly leads = new KnownRows<KnownLead>()
  readonly campaigns = new KnownRows<KnownCampaign>()
  readonly listings = new Listings()
  /** Position of the newest event of each call that has a row, as far as the batch has to know. */
  readonly calls = new Map<string, bigint>()

  readonly changed = idsByTable()
  /** Of rows that events of the batch create, and that were taken for absent. */
  readonly presumedAbsent = idsByTable()
  readonly rerouted = new Map<number, SettingsChange>()
  readonly duplicates: Duplicate[] = []
  /** Calls of which nothing is to be kept. */
  readonly erased = new Set<string>()

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

  leadCreated (data: Data<LeadEvent, 'LeadCreated'>, revision: bigint): void {
    const { id: primary, user_id, campaign_id, secondary_contacts, ...lead } = leadOf({ type: 'LeadCreated', data })
    const shared = { user_id, campaign_id, newest_report_at: null, revision }
    for (const { id, phone_number, variables, status } of [{ ...lead, id: primary }, ...secondary_contacts]) {
      const primary_id = id === primary ? null : primary
      if (!this.leads.has(id)) this.#putLead({ ...shared, id, primary_id, phone_number, variables, status })
    }
    this.#putErased(data, data.erased_contacts, revision)
  }

  /** Contacts that the lead does not have any more stay known: their calls may still be reported. */
  leadUpdated (data: Data<LeadEvent, 'LeadUpdated'>, revision: bigint): void {
    const { lead_id, changes } = data
    const lead = this.leads.get(lead_id)
    if (!lead) return
    const { user_id, campaign_id } = lead
    const fresh = { user_id, campaign_id, primary_id: lead_id, status: 'created' as const, newest_report_at: null }
    const given = [{ ...lead, variables: changes.variables ?? lead.variables }, ...changes.secondary_contacts ?? []]
    for (const { id, phone_number, variables } of given) {
      const known = this.leads.get(id)
      if (known && known.revision >= revision) continue
      this.#putLead({ ...fresh, ...known, id, phone_number, variables, revision })
    }
    this.#putErased(data, data.erased_contacts, revision)
  }

  leadStatusChanged (data: Data<LeadEvent, 'LeadStatusChanged'>, revision: bigint): void {
    const { lead_id, contact_id, status } = data
    const known = this.leads.get(contact_id ?? lead_id)
    if (known && known.revision < revision) this.#putLead({ ...known, status, revision })
  }

  leadErased (event: LeadErasedEvent, revision: bigint): void {
    this.#putErased(event.data, erasedIds(event), revision)
  }

  #putErased (lead: Parameters<typeof erasedRow>[1], ids: readonly number[] | undefined, revision: bigint): void {
    for (const id of ids ?? []) {
      const known = this.leads.get(id)
      if ((known?.revision ?? -1n) < revision) this.#putLead(erasedRow(id, lead, revision, known?.is_erased))
    }
  }

  leadMoved (lead: KnownLead, { status, newest_report_at }: Calling): KnownLead {
    return this.#putLead({ ...lead, status, newest_report_at })
  }

  campaignNamed (data: Data<CampaignEvent, 'CampaignCreated' | 'CampaignRenamed'>, revision: bigint): void {
    const { campaign_id, name } = data
    if ((this.campaigns.get(campaign_id)?.revision ?? -1n) >= revision) return
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

  /** Whether the call has its row already. */
  callErased (call_id: string, position: bigint): boolean {
    const isKnown = this.calls.has(call_id)
    this.calls.set(call_id, position)
    this.erased.add(call_id)
    return isKnown
  }

  #putLead (lead: KnownLead): KnownLead {
    this.leads.set(lead.id, lead)
    this.changed.leads.add(lead.id)
    return lead
  }

  /** The batch is in the database: rows for the next ones are kept as far as memory goes. */
  written (mostBytes: number): void {
    for (const ids of [...Object.values(this.changed), ...Object.values(this.presumedAbsent)]) ids.clear()
    this.listings.written()
    this.forgetEffects()
    this.calls.clear()
    let room = mostBytes
    for (const rows of [this.campaigns, this.assistants, this.leads]) room -= rows.shrinkTo(room)
  }

  /** The events so far were acted on before they were read again: what they make known stays. */
  forgetEffects (): void {
    this.rerouted.clear()
    this.duplicates.length = 0
  }
}
