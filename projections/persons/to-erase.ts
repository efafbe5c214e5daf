// What the read model still has of a person who is to be erased, by ids: those are not personal.
import type { Pool } from 'pg'
import type { DigestOfContact } from '../../src/features/leads/events.js'
import { patient, type DigestedPerson, type Person } from './find-person.js'

/** Of one stream. `contacts` are all that the lead has ever had. */
export interface LeadToErase { lead_id: number, contacts: number[], digests: DigestOfContact[] }

/** Secondary contacts with the number, of a lead that stays. */
export interface ContactsToErase {
  stream: string
  lead_id: number
  campaign_id: number
  contact_ids: number[]
}

export interface EntryToErase { blacklist_id: number, created_at: Date, is_deleted: boolean }

/**
 * Of those with an erased person's number, of those who went with a lead before and had it, and of those who were read
 * too late to be known by one.
 */
const isOfPerson = '(phone_number = $2 OR number_digest = $3 OR is_to_erase)'

/**
 * Leads and contacts with the number, on whatever stream, deleted or not.
 * @param streams on which every lead has the number: readers may have come to one when it could not be read any more
 */
export async function findLeadIds (
  pool: Pool, { userId, phoneNumber, numberDigest }: DigestedPerson, streams: readonly string[]
): Promise<number[]> {
  const { rows } = await pool.query<{ id: string }>({
    text: `
      SELECT id FROM read_model.leads
      WHERE user_id = $1 AND (${isOfPerson} OR (primary_id IS NULL AND stream = ANY($4)))`,
    values: [userId, phoneNumber, numberDigest, streams],
    ...patient
  })
  return rows.map(({ id }) => Number(id))
}

interface FoundLead {
  lead_id: number
  contacts: Array<{ id: number, phone_number: string, number_digest: string | null }>
}

/** Of a stream all of whose leads have the number; those that are erased have none any more. */
export async function findLeadsOn (
  pool: Pool, { userId, phoneNumber }: Person, stream: string, digest: (phoneNumber: string) => string
): Promise<LeadToErase[]> {
  const { rows } = await pool.query<FoundLead>({
    text: `
      SELECT id::float8 AS lead_id, (
        SELECT coalesce(json_agg(json_build_object(
          'id', id, 'phone_number', phone_number, 'number_digest', number_digest) ORDER BY id), '[]')
        FROM read_model.leads WHERE primary_id = lead.id) AS contacts
      FROM read_model.leads lead
      WHERE user_id = $1 AND primary_id IS NULL AND stream = $2 ORDER BY id`,
    values: [userId, stream],
    ...patient
  })
  return rows.map(({ lead_id, contacts }) => {
    const digests = contacts.flatMap(({ id: contact_id, phone_number, number_digest: known }) => {
      const number_digest = phone_number === '' ? known : digest(phone_number)
      // The person's own number needs none: they are erased with the lead.
      return number_digest === null || phone_number === phoneNumber ? [] : [{ contact_id, number_digest }]
    })
    return { lead_id, contacts: contacts.map(({ id }) => id), digests }
  })
}

export async function findContacts (
  pool: Pool, { userId, phoneNumber, numberDigest }: DigestedPerson
): Promise<ContactsToErase[]> {
  const { rows } = await pool.query<ContactsToErase>({
    text: `
      SELECT stream, primary_id::float8 AS lead_id, campaign_id::float8 AS campaign_id, array_agg(id::float8) AS contact_ids
      FROM read_model.leads
      WHERE user_id = $1 AND ${isOfPerson} AND primary_id IS NOT NULL GROUP BY stream, primary_id, campaign_id`,
    values: [userId, phoneNumber, numberDigest],
    ...patient
  })
  return rows
}

/** Every do-not-call entry that the stream has had, in their order. */
export async function findEntries (pool: Pool, userId: string, stream: string): Promise<EntryToErase[]> {
  const { rows } = await pool.query<EntryToErase>({
    text: `
      SELECT id::float8 AS blacklist_id, created_at, is_deleted FROM read_model.blacklist
      WHERE user_id = $1 AND stream = $2 ORDER BY revision`,
    values: [userId, stream],
    ...patient
  })
  return rows
}

/** Of every campaign that the user has had, and of those of leads with the number, should readers lack the campaign. */
export async function findCampaignIds (pool: Pool, { userId, phoneNumber }: Person): Promise<number[]> {
  const { rows } = await pool.query<{ id: string }>({
    text: `
      SELECT id FROM read_model.campaigns WHERE user_id = $1
      UNION SELECT campaign_id FROM read_model.leads WHERE user_id = $1 AND phone_number = $2 AND primary_id IS NULL
      ORDER BY id`,
    values: [userId, phoneNumber],
    ...patient
  })
  return rows.map(({ id }) => Number(id))
}
