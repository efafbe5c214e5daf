// What happens to a bulk import of leads, on the stream `import-<id>`. Its rows are events of the leads.
import Type from 'typebox'
import { Id, Instant, UserId, uuid } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const ids = { import_id: Type.String({ pattern: uuid, description: 'A UUID.' }), user_id: UserId, campaign_id: Id({}) }
export const Count = (description: string) => Type.Integer({ minimum: 0, description })

const counts = {
  total: Count('Rows that were sent.'),
  created: Count('Rows that became a lead.'),
  duplicates: Count('Rows whose phone number was a lead of the campaign already.'),
  invalid: Count('Rows that were refused.')
}

/** How to treat a row whose phone number is a lead of the campaign already. */
const duplicateRules = ['skip', 'allow'] as const
export type DuplicateRule = typeof duplicateRules[number]
export const DuplicateRule = Type.Enum([...duplicateRules], {
  title: 'DuplicateRule',
  description: '`skip`: a row whose phone number is a lead of the campaign already is passed over; `allow`: it becomes another.'
})

export const LeadImportStatus = Type.Enum(['processing', 'completed', 'failed'], { title: 'LeadImportStatus' })

export const leadImportEvents = {
  LeadImportRequested: firstVersion(Type.Object({
    ...ids, if_duplicate: DuplicateRule, total: counts.total, requested_at: Instant()
  })),
  LeadImportCompleted: firstVersion(Type.Object({ ...ids, ...counts, completed_at: Instant() })),
  LeadImportFailed: firstVersion(Type.Object({
    ...ids, ...counts, reason: Type.String({ description: 'Why the rows that are left cannot be imported.' }), failed_at: Instant()
  }))
}
export type LeadImportEvent = EventOf<typeof leadImportEvents>
export const leadImportEventTypes = typesOf(leadImportEvents)

export const leadImportStream = (id: string) => `import-${id}`
