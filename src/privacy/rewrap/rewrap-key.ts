// Encrypts the key of one person in the log with the current SECRET_KEY; the key itself stays what it is.
import { randomUUID } from 'node:crypto'
import { currentVersion } from '../../domain/events.js'
import { personKeyStream, type PersonKeyCreatedEvent } from '../../features/persons/key-events.js'
import { RevisionConflict } from '../../log/errors.js'
import { noStream, type Streams } from '../../log/event-log.js'
import { unwrap } from '../keys/unwrap.js'
import type { KeptKey } from '../keys/ledger-keys.js'
import { newestIn, wrappedFor } from '../keys/log-keys.js'
import { keyId as idOf, seal, type SealedRow, type SecretKeys } from '../sealed-text.js'

export type RewrapStreams = Pick<Streams, 'read' | 'last' | 'append' | 'truncate'>

/**
 * Appends `PersonKeyCreated` of the same key, encrypted anew, and hides what is before. An erasure that comes between
 * wins: each step is at the exact revision that it has seen. Whatever broke off is done when it is repeated.
 * @returns the key as the log has it now; nothing when the person has none any more
 * @throws PersonKeyUnreadable and the errors of `Streams`
 */
export async function rewrapKey (
  streams: RewrapStreams, secretKeys: SecretKeys, person: string
): Promise<KeptKey & { wrapped: SealedRow } | undefined> {
  const stream = personKeyStream(person)
  for (;;) {
    const { event, revision, first, metadata } = await look(streams, stream) ?? {}
    if (!event || revision === undefined || metadata === undefined) return undefined
    const isCurrent = event.data.wrapped_by === idOf(secretKeys.current)
    const anew = isCurrent ? event : rewrapped(secretKeys, person, event)
    const last = isCurrent ? revision : await append(streams, stream, anew, revision)
    if (last === undefined) continue
    if (first !== last) await hideBefore(streams, stream, last, metadata)
    const { key_id: keyId, wrapped_by, wrapped } = anew.data
    return { person, keyId, wrapped: { key_id: wrapped_by, sealed: wrapped } }
  }
}

/** What a process that ended behind its append has left. */
export async function hideFormer (streams: RewrapStreams, { current }: SecretKeys, person: string): Promise<void> {
  const stream = personKeyStream(person)
  const { event, revision, first, metadata } = await look(streams, stream) ?? {}
  if (revision === undefined || metadata === undefined || first === revision) return
  if (event?.data.wrapped_by === idOf(current)) await hideBefore(streams, stream, revision, metadata)
}

/** Nothing where there is no key. */
async function look (streams: RewrapStreams, stream: string) {
  // Before the events: a delete that comes later writes metadata, and is not undone by ours.
  const metadata = (await streams.last(`$$${stream}`))?.revision ?? noStream
  const events = await streams.read(stream)
  const { event, revision } = newestIn(events) ?? {}
  if (event?.type !== 'PersonKeyCreated' || revision === undefined) return undefined
  return { event, revision, first: events[0]?.revision, metadata }
}

function rewrapped (
  secretKeys: SecretKeys, person: string, { type, data }: PersonKeyCreatedEvent
): PersonKeyCreatedEvent {
  const { key_id: keyId, wrapped_by, wrapped } = data
  const key = unwrap(secretKeys, { person, keyId, wrapped: { key_id: wrapped_by, sealed: wrapped } })
  if (!key) throw new Error(`the key ${keyId} is erased`) // not what was made
  const anew = seal(secretKeys, wrappedFor(person, keyId), key.toString('base64'))
  return { type, data: { ...data, wrapped_by: anew.key_id, wrapped: anew.sealed } }
}

/** @returns the revision; nothing when somebody else was first */
async function append (
  streams: RewrapStreams, stream: string, { type, data }: PersonKeyCreatedEvent, expected: bigint
): Promise<bigint | undefined> {
  const proposed = { id: randomUUID(), type, data, metadata: { schema_version: currentVersion(type) } }
  try {
    return (await streams.append(stream, [proposed], expected)).revision
  } catch (error) {
    if (error instanceof RevisionConflict) return undefined
    throw error
  }
}

/** Where the person was erased meanwhile, all of it is hidden already. */
async function hideBefore (
  streams: RewrapStreams, stream: string, revision: bigint, metadata: bigint
): Promise<void> {
  try {
    await streams.truncate(stream, revision, metadata)
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error
  }
}
