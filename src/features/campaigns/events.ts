// What happens to a campaign, on the stream `campaign-<id>`.
import Type from 'typebox'
import { Id, Instant, UserId, withoutNul } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const ids = { campaign_id: Id({}), user_id: UserId }
const name = Type.String({ minLength: 1, maxLength: 255, ...withoutNul })
/** Tells imports from users: an import changes only what differs from the import before it. */
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

export const campaignStream = (campaignId: number) => `campaign-${campaignId}`
