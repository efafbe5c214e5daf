// What happens to a campaign, on the stream `campaign-<id>`.
import Type from 'typebox'
import { Id, Instant, UserId, withoutNul } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const ids = { campaign_id: Id({}), user_id: UserId }
const name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })
/** An import changes only what differs from its own last one, so what it wrote is told from what users did. */
const source = Type.Enum(['user', 'import'], {
  title: 'NamedBy', description: 'Who named it so: its user, or an import of a catalogue.'
})

export const campaignEvents = {
  CampaignCreated: firstVersion(Type.Object({ ...ids, name, source, created_at: Instant() })),
  CampaignRenamed: firstVersion(Type.Object({ ...ids, name, source, renamed_at: Instant() })),
  CampaignDeleted: firstVersion(Type.Object({ ...ids, deleted_at: Instant() }))
}
export type CampaignEvent = EventOf<typeof campaignEvents>
export const campaignEventTypes = typesOf(campaignEvents)

export const isCampaignEvent = (event: { type: string }): event is CampaignEvent =>
  Object.hasOwn(campaignEvents, event.type)

export const campaignStream = (campaignId: number) => `campaign-${campaignId}`
