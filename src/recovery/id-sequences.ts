// Compares the sequences that ids come from with the log and its last marker, and raises them above both.
import type { Pool } from 'pg'
import { tryDecode, type DomainEvent } from '../domain/events.js'
import { believedId, largestId, forEachKind, idKinds, type IdKind } from '../domain/json.js'
import { readDatabaseState } from './database-state.js'
import type { Streams } from '../log/event-log.js'

export interface SequenceState {
  name: IdKind
  /** No higher id was given out. */
  given: number
  /** The highest id in the log; 0 for none. */
  in_log: number
  /** The highest id that the last marker knows of; 0 for none. */
  in_marker: number
}

export interface IdsState {
  sequences: SequenceState[]
  /** Whether ids may be given out. */
  ok: boolean
}

export type OnProgress = (progress: { events: number, position: bigint, head: bigint }) => void

const never = new AbortController().signal

/** Compares the sequences with the whole log. @throws EventStoreUnavailable, errors of Postgres, `signal.reason` */
export async function checkIds (
  pool: Pool, streams: Streams, onProgress: OnProgress, signal = never
): Promise<IdsState> {
  const highest = await highestIds(streams, onProgress, signal)
  const { last, givenIds, mayGiveIds } = await readDatabaseState(pool, streams)
  const sequences = idKinds.map((name): SequenceState =>
    ({ name, given: givenIds[name], in_log: highest[name], in_marker: last?.ids[name] ?? 0 }))
  return { sequences, ok: mayGiveIds && sequences.every(isPast) }
}

/**
 * Raises each sequence above every id that the log and its last marker know, and notes that marker. It lowers only one
 * that was set by hand beyond the highest id there is, from which no id can be given.
 */
export async function reseedIds (
  pool: Pool, streams: Streams, onProgress: OnProgress, signal = never
): Promise<IdsState> {
  const { sequences } = await checkIds(pool, streams, onProgress, signal)
  for (const { name, given, in_log: inLog, in_marker: inMarker } of sequences) {
    const known = Math.max(inLog, inMarker)
    if (given > largestId) {
      await pool.query('SELECT setval($1::regclass, $2)', [`ledger.${name}_ids`, Math.max(known, 1)])
    }
    await pool.query('SELECT ledger.raise_ids($1::regclass, $2)', [`ledger.${name}_ids`, known])
  }
  const { last } = await readDatabaseState(pool, streams)
  if (last) {
    await pool.query(`
      INSERT INTO ledger.markers (id, revision, position, ids_passed) VALUES ($1, $2, $3, true)
      ON CONFLICT (id) DO UPDATE SET ids_passed = true`, [last.id, last.revision, last.position])
  }
  const { givenIds, mayGiveIds } = await readDatabaseState(pool, streams)
  const raised = sequences.map((sequence) => ({ ...sequence, given: givenIds[sequence.name] }))
  return { sequences: raised, ok: mayGiveIds && raised.every(isPast) }
}

const isPast = ({ given, in_log: inLog, in_marker: inMarker }: SequenceState) =>
  given >= inLog && given >= inMarker && given <= largestId

const telling = [
  'AssistantCreated', 'LeadCreated', 'LeadUpdated', 'CampaignCreated', 'PhoneNumberAdded', 'PhoneNumberClaimed',
  'ApiKeyCreated', 'PhoneNumberBlacklisted', 'LeadErased', 'BlacklistEntryErased'
]

async function highestIds (
  { head, follow }: Streams, onProgress: OnProgress, signal: AbortSignal
): Promise<Record<IdKind, number>> {
  const highest = forEachKind(() => 0)
  const end = await head()
  let events = 0
  if (end === 0n) return highest
  for await (const batch of follow({ after: 0n, eventTypes: telling, signal })) {
    for (const stored of batch.events) raise(highest, tryDecode(stored).event) // one that cannot be read has no row
    events += batch.events.length
    onProgress({ events, position: batch.position, head: end })
    if (batch.position >= end) return highest
  }
  signal.throwIfAborted()
  return highest
}

function raise (highest: Record<IdKind, number>, event: DomainEvent | undefined): void {
  const seen = (kind: IdKind, ...ids: number[]) => { highest[kind] = Math.max(highest[kind], ...ids.map(believedId)) }
  switch (event?.type) {
    case 'AssistantCreated': return seen('assistant', event.data.assistant_id)
    case 'LeadCreated': {
      const { lead_id, secondary_contacts, erased_contacts = [] } = event.data
      return seen('lead', lead_id, ...secondary_contacts.map(({ id }) => id), ...erased_contacts)
    }
    case 'LeadUpdated': {
      const { lead_id, changes: { secondary_contacts = [] }, erased_contacts = [] } = event.data
      return seen('lead', lead_id, ...secondary_contacts.map(({ id }) => id), ...erased_contacts)
    }
    case 'LeadErased': return seen('lead', event.data.lead_id, ...event.data.contact_ids)
    case 'CampaignCreated': return seen('campaign', event.data.campaign_id)
    case 'PhoneNumberAdded':
    case 'PhoneNumberClaimed': return seen('phone_number', event.data.phone_number_id)
    case 'ApiKeyCreated': return seen('api_key', event.data.api_key_id)
    case 'PhoneNumberBlacklisted':
    case 'BlacklistEntryErased': return seen('blacklist', event.data.blacklist_id)
    default:
  }
}
