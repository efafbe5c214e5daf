// A campaign as callers see it; write and read side use the same function.
import Type, { type Static } from 'typebox'
import { Id } from '../../domain/json.js'
import type { Campaign } from './evolve.js'

const At = Type.String({ description: 'ISO 8601, UTC.', examples: ['2026-01-31T11:50:00.000Z'] })

export const CampaignAnswer = Type.Object({
  id: Id({ description: 'The campaign_id of a lead.' }),
  name: Type.String({ examples: ['Spring renewals'] }),
  created_at: At,
  updated_at: At
}, { title: 'Campaign' })
export type CampaignAnswer = Static<typeof CampaignAnswer>

export const describeCampaign = ({ campaign_id: id, name, created_at, updated_at }: Campaign): CampaignAnswer =>
  ({ id, name, created_at, updated_at })
