// What happens to a campaign, on the stream `campaign-<id>`.
import Type, { type Static } from 'typebox'
import { Id, Instant, withoutNul } from '../../domain/json.js'
import { UserId } from '../api-keys/user.js'

const ids = { campaign_id: Id({}), user_id: UserId }
const name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })
/** An import changes only what differs from its own last one, so what it wrote is told from what users did. */
const source = Type.Enum(['user', 'import'], {
  title: 'NamedBy', description: 'Who named it so: its user, or an import of a catalogue.'
})

export const CampaignCreated = Type.Object({ ...ids, name, source, created_at: Instant() })
export const CampaignRenamed = Type.Object({ ...ids, name, source, renamed_at: Instant() })
export const CampaignDeleted = Type.Object({ ...ids, deleted_at: Instant() })

export type CampaignEvent =
  | { type: 'CampaignCreated', data: Static<typeof CampaignCreated> }
  | { type: 'CampaignRenamed', data: Static<typeof CampaignRenamed> }
  | { type: 'CampaignDeleted', data: Static<typeof CampaignDeleted> }

export const campaignEventTypes = ['CampaignCreated', 'CampaignRenamed', 'CampaignDeleted'] as const
export const isCampaignEvent = (event: { type: string }): event is CampaignEvent =>
  campaignEventTypes.some((type) => type === event.type)

export const campaignStream = (campaignId: number) => `campaign-${campaignId}`
