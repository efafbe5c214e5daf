// Everything that readers ask, bound to one pool.
import type { Pool } from 'pg'
import type { AssistantSummary } from '../src/domain/assistant/summary.js'
import type { CallSummary } from '../src/domain/call/summary.js'
import { findAssistant, findAssistants, type AssistantAtRevision, type AssistantFilter } from './assistants.js'
import { findCall, findCalls, type CallFilter, type CallFound } from './calls.js'
import {
  findCampaignName, findCampaigns, findLanguages, findModels, findPhoneNumbers, findVoices, lookUpCatalog,
  type CatalogAnswer, type CatalogQuestion, type Named, type NamedWithId, type NumberOwned
} from './catalog.js'
import { findLead, findLeadOwner, findLeads, type LeadFilter, type LeadInCampaign } from './find-leads.js'
import type { Page, Paged } from '../src/postgres/page.js'

export interface ReadModel {
  findAssistant (userId: string, id: number): Promise<AssistantAtRevision | undefined>
  findAssistants (filter: AssistantFilter, page: Page): Promise<Paged<AssistantSummary>>
  findLead (userId: string, id: number): Promise<LeadInCampaign | undefined>
  findLeads (filter: LeadFilter, page: Page): Promise<Paged<LeadInCampaign>>
  findLeadOwner (id: number): Promise<string | undefined>
  findCall (userId: string, callId: string): Promise<CallFound | undefined>
  findCalls (filter: CallFilter, page: Page): Promise<Paged<CallSummary>>
  findVoices (page: Page): Promise<Paged<NamedWithId>>
  findLanguages (page: Page): Promise<Paged<Named>>
  findModels (page: Page): Promise<Paged<Named>>
  findCampaigns (userId: string, page: Page): Promise<Paged<NamedWithId>>
  findPhoneNumbers (userId: string, page: Page): Promise<Paged<NumberOwned>>
  findCampaignName (userId: string, campaignId: number): Promise<string | undefined>
  lookUpCatalog (question: CatalogQuestion): Promise<CatalogAnswer>
}

export function openReadModel (pool: Pool): ReadModel {
  return {
    findAssistant: (userId, id) => findAssistant(pool, userId, id),
    findAssistants: (filter, page) => findAssistants(pool, filter, page),
    findLead: (userId, id) => findLead(pool, userId, id),
    findLeads: (filter, page) => findLeads(pool, filter, page),
    findLeadOwner: (id) => findLeadOwner(pool, id),
    findCall: (userId, callId) => findCall(pool, userId, callId),
    findCalls: (filter, page) => findCalls(pool, filter, page),
    findVoices: (page) => findVoices(pool, page),
    findLanguages: (page) => findLanguages(pool, page),
    findModels: (page) => findModels(pool, page),
    findCampaigns: (userId, page) => findCampaigns(pool, userId, page),
    findPhoneNumbers: (userId, page) => findPhoneNumbers(pool, userId, page),
    findCampaignName: (userId, campaignId) => findCampaignName(pool, userId, campaignId),
    lookUpCatalog: (question) => lookUpCatalog(pool, question)
  }
}
