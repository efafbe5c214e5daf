// The events that stand for all earlier ones of their streams, once a person was erased.
import type { DomainEvent } from '../../domain/events.js'
import { typeInLog } from '../../domain/sealed/left.js'
import type { StoredEvent } from '../../domain/stored-event.js'

/** Stands for events that nobody could read. No reader knows the type: they pass it. */
export const streamErased = 'StreamErased'

const erasing: ReadonlySet<string> =
  new Set<DomainEvent['type'] | typeof streamErased>(['LeadErased', 'CallErased', 'BlacklistEntryErased', streamErased])

/** A stream that begins with one of these is whole. */
export const isErasing = (event: Pick<StoredEvent, 'type' | 'metadata'>): boolean => erasing.has(typeInLog(event))
