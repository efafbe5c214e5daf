// Everything that readers ask, bound to one pool.
import type { Pool } from 'pg'
import type { Page } from '../src/postgres/page.js'
import { findAssistantHistory } from './assistant-history.js'
import { findAssistant, findAssistants, type AssistantFilter } from './assistants.js'
import {
  findCampaignName, findCampaigns, findLanguages, findModels, findPhoneNumbers, findVoices, lookUpCatalog,
  type CatalogQuestion
} from './catalog.js'
import { findCall, findCalls, type CallFilter } from './find-calls.js'
import { findLead, findLeadOwner, findLeadToChange, findLeads, type LeadFilter } from './find-leads.js'

export type ReadModel = ReturnType<typeof openReadModel>

export function openReadModel (pool: Pool) {
  return {
    findAssistant: (userId: string, id: number) => findAssistant(pool, userId, id),
    findAssistants: (filter: AssistantFilter, page: Page) => findAssistants(pool, filter, page),
    findAssistantHistory: (userId: string, id: number, page: Page) => findAssistantHistory(pool, userId, id, page),
    findLead: (userId: string, id: number) => findLead(pool, userId, id),
    findLeadToChange: (userId: string, id: number) => findLeadToChange(pool, userId, id),
    findLeads: (filter: LeadFilter, page: Page) => findLeads(pool, filter, page),
    findLeadOwner: (id: number) => findLeadOwner(pool, id),
    findCall: (userId: string, callId: string) => findCall(pool, userId, callId),
    findCalls: (filter: CallFilter, page: Page) => findCalls(pool, filter, page),
    findVoices: (page: Page) => findVoices(pool, page),
    findLanguages: (page: Page) => findLanguages(pool, page),
    findModels: (page: Page) => findModels(pool, page),
    findCampaigns: (userId: string, page: Page) => findCampaigns(pool, userId, page),
    findPhoneNumbers: (userId: string, page: Page) => findPhoneNumbers(pool, userId, page),
    findCampaignName: (userId: string, campaignId: number) => findCampaignName(pool, userId, campaignId),
    lookUpCatalog: (question: CatalogQuestion) => lookUpCatalog(pool, question)
  }
}
