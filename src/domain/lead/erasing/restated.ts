// A lead or a secondary contact as it is, on the stream of the lead: it stands for all that was said of it before.
import Type, { type Static } from 'typebox'
import { GivenId, Id, Instant, Nullable, PhoneNumber } from '../../json.js'
import { Sealed } from '../../sealed/sealed.js'
import { firstVersion } from '../../upcast.js'
import { UserId } from '../../token/user.js'
import { LeadStatus } from '../../lead-status.js'
import { StoredVariables } from '../variables.js'

const plain = {
  lead_id: GivenId(),
  user_id: UserId,
  campaign_id: Id({}),
  contact_id: Nullable(GivenId(), { description: 'The secondary contact that it is about; null for the lead itself.' }),
  place: Type.Integer({ minimum: 0, description: 'Of the contact among those of its lead, from 1 on; 0 for the lead.' }),
  status: LeadStatus({ description: 'As calls and its user have left it.' }),
  is_deleted: Type.Boolean({ description: 'It was deleted, or its lead does not have it any more.' }),
  newest_report_at: Nullable(Instant(), { description: 'When the latest of its reported calls ended.' }),
  created_at: Instant(),
  updated_at: Instant(),
  calls: Type.Array(Type.String(), { description: 'That named it before: whose they were is hidden with what was before.' }),
  restated_at: Instant()
}

export const LeadRestated = Type.Object({ ...plain, phone_number: PhoneNumber(), variables: StoredVariables })

/** Number and variables are sealed under the key of its own number. */
export const leadRestatedVersions = firstVersion(LeadRestated, Type.Object({ ...plain, sealed: Sealed }))

export type LeadRestatedEvent = { type: 'LeadRestated', data: Static<typeof LeadRestated> }

/** Of the lead or the contact. */
export const restatedId = ({ data: { lead_id, contact_id } }: LeadRestatedEvent): number => contact_id ?? lead_id
