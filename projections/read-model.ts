// Everything that readers ask, bound to one pool.
import type { Pool } from 'pg'
import type { AssistantAtRevision } from '../src/features/assistants/model.js'
import type { CallSummary } from '../src/features/calls/model.js'
import type { Page } from '../src/postgres/page.js'
import {
  findAssistant, findAssistantHistory, findAssistants, withoutReleased, type AssistantFilter
} from './assistants.js'
import { findBlacklist, findBlacklistStream } from './blacklist.js'
import {
  findCampaign, findCampaigns, findLanguages, findModels, findPhoneNumbers, findVoices, lookUpCatalog,
  type CatalogQuestion, type OwnFilter
} from './catalog.js'
import { type CallFilter, eachCall, findCall, findCalls } from './calls.js'
import { findApiKeys } from './keys.js'
import {
  eachLead, findLead, findLeadOwner, findLeadToChange, findLeads, type LeadFilter, type LeadInCampaign
} from './find-leads.js'

export type ReadModel = ReturnType<typeof openReadModel>

export function openReadModel (pool: Pool) {
  return {
    findAssistant: (userId: string, id: number) => findAssistant(pool, userId, id),
    withoutReleased: (assistant: AssistantAtRevision) => withoutReleased(pool, assistant),
    findAssistants: (filter: AssistantFilter, page: Page) => findAssistants(pool, filter, page),
    findAssistantHistory: (userId: string, id: number, page: Page) => findAssistantHistory(pool, userId, id, page),
    findLead: (userId: string, id: number) => findLead(pool, userId, id),
    findLeadToChange: (userId: string, id: number) => findLeadToChange(pool, userId, id),
    findLeads: (filter: LeadFilter, page: Page) => findLeads(pool, filter, page),
    eachLead: (filter: LeadFilter, visit: (leads: LeadInCampaign[]) => Promise<void>, signal: AbortSignal) =>
      eachLead(pool, filter, visit, signal),
    findLeadOwner: (id: number) => findLeadOwner(pool, id),
    findBlacklist: (filter: OwnFilter, page: Page) => findBlacklist(pool, filter, page),
    findBlacklistStream: (userId: string, id: number) => findBlacklistStream(pool, userId, id),
    findCall: (userId: string, callId: string) => findCall(pool, userId, callId),
    findCalls: (filter: CallFilter, page: Page) => findCalls(pool, filter, page),
    eachCall: (filter: CallFilter, visit: (calls: CallSummary[]) => Promise<void>, signal: AbortSignal) =>
      eachCall(pool, filter, visit, signal),
    findVoices: (page: Page) => findVoices(pool, page),
    findLanguages: (page: Page) => findLanguages(pool, page),
    findModels: (page: Page) => findModels(pool, page),
    findCampaigns: (filter: OwnFilter, page: Page) => findCampaigns(pool, filter, page),
    findPhoneNumbers: (filter: OwnFilter, page: Page) => findPhoneNumbers(pool, filter, page),
    findApiKeys: (userId: string, page: Page) => findApiKeys(pool, userId, page),
    findCampaign: (userId: string, id: number) => findCampaign(pool, userId, id),
    lookUpCatalog: (question: CatalogQuestion) => lookUpCatalog(pool, question)
  }
}
