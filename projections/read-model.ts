// Everything that readers ask, bound to one pool.
import type { Pool } from 'pg'
import { findAssistant, type AssistantAtRevision } from './assistants.js'
import { findCampaignName, lookUpCatalog, type CatalogAnswer, type CatalogQuestion } from './catalog.js'
import { findLead, findLeadOwner, type LeadInCampaign } from './leads.js'

export interface ReadModel {
  findAssistant (userId: string, id: number): Promise<AssistantAtRevision | undefined>
  findLead (userId: string, id: number): Promise<LeadInCampaign | undefined>
  findLeadOwner (id: number): Promise<string | undefined>
  findCampaignName (userId: string, campaignId: number): Promise<string | undefined>
  lookUpCatalog (question: CatalogQuestion): Promise<CatalogAnswer>
}

export function openReadModel (pool: Pool): ReadModel {
  return {
    findAssistant: (userId, id) => findAssistant(pool, userId, id),
    findLead: (userId, id) => findLead(pool, userId, id),
    findLeadOwner: (id) => findLeadOwner(pool, id),
    findCampaignName: (userId, campaignId) => findCampaignName(pool, userId, campaignId),
    lookUpCatalog: (question) => lookUpCatalog(pool, question)
  }
}
