// How far the webhook dispatcher and the ids of one database have come, written into the log itself.
import Type, { type Static } from 'typebox'
import { Instant, uuid } from './json.js'

const Given = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

export const DispatcherCheckpointed = Type.Object({
  incarnation: Type.String({
    pattern: uuid,
    description: 'The database that the dispatcher works on: made once in each, and copied with a backup.'
  }),
  checkpoint: Type.String({
    pattern: '^(0|[1-9][0-9]*)$',
    description: 'Every call up to this position has its webhook delivery. ' +
      'A position of the event store that the event was first written to.'
  }),
  assistant_ids: Given('No higher assistant id was given out; 0 for none.'),
  lead_ids: Given('No higher id of a lead or secondary contact was given out; 0 for none.'),
  campaign_ids: Type.Optional(Given('No higher campaign id was given out; 0, or absent, for none.')),
  phone_number_ids: Type.Optional(Given('No higher id of a phone number was given out; 0, or absent, for none.')),
  api_key_ids: Type.Optional(Given('No higher id of an API key was given out; 0, or absent, for none.')),
  blacklist_ids: Type.Optional(Given('No higher id of a do-not-call entry was given out; 0, or absent, for none.')),
  at: Instant()
})
export type DispatcherCheckpointed = Static<typeof DispatcherCheckpointed>

export const markerStream = 'ringledger-marker'
