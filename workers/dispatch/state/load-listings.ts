// Which numbers of a batch must not be called, as far as that is not known yet.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent } from '../../../src/domain/events.js'
import { numberIn, type Numbered } from './listings.js'
import type { DispatchState } from './state.js'

/** Of numbers that events list, and of people who were called. Most came with their leads. */
export async function loadListings (db: Pool | PoolClient, state: DispatchState, events: DomainEvent[]): Promise<void> {
  const { listings } = state
  const asked = numbersIn(state, events).filter((number) => !listings.has(number))
  if (asked.length === 0) return
  const { rows } = await db.query<Numbered & { is_listed: boolean, revision: string }>(`
    SELECT user_id, phone_number, is_listed, revision FROM ledger.dispatch_blacklist
    JOIN unnest($1::text[], $2::text[]) AS asked (user_id, phone_number) USING (user_id, phone_number)`,
  [asked.map(({ user_id }) => user_id), asked.map(({ phone_number }) => phone_number)])
  for (const { revision, ...listing } of rows) listings.loaded({ ...listing, revision: BigInt(revision) })
  for (const number of asked) listings.loaded({ ...number, is_listed: false, revision: -1n })
}

function numbersIn ({ leads }: DispatchState, events: DomainEvent[]): Numbered[] {
  const created = new Map(events.flatMap(peopleIn))
  return events.flatMap((event) => {
    const { type, data } = event
    switch (type) {
      case 'PhoneNumberBlacklisted':
      case 'PhoneNumberUnblacklisted': return numberIn(event)
      case 'CallCompleted': {
        const lead = data.lead_id === null ? undefined : leads.get(data.lead_id) ?? created.get(data.lead_id)
        return lead ? { user_id: lead.user_id, phone_number: lead.phone_number } : []
      }
      default: return []
    }
  })
}

/** By id: leads of the same batch, which are called in it. */
function peopleIn ({ type, data }: DomainEvent): Array<[number, Numbered]> {
  if (type !== 'LeadCreated' && type !== 'LeadUpdated') return []
  const { lead_id, user_id } = data
  const contacts = (type === 'LeadCreated' ? data.secondary_contacts : data.changes.secondary_contacts) ?? []
  const people = contacts.map(({ id, phone_number }): [number, Numbered] => [id, { user_id, phone_number }])
  return type === 'LeadCreated' ? [[lead_id, { user_id, phone_number: data.phone_number }], ...people] : people
}
