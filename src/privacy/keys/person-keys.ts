// The keys that the data of persons is sealed under.
import type { StoredEvent } from '../../domain/stored-event.js'
import type { KeptKey } from './ledger-keys.js'

/** A key of 32 bytes that data of a person is sealed under; a person may have had several, one after the other. */
export interface PersonKey { person: string, keyId: string, key: Buffer }

/** Names a key in what is sealed under it. */
export interface KeyName { person: string, keyId: string }

export interface PersonKeys {
  /** As it stands in the names of streams. */
  personOf (userId: string, numberDigest: string): string
  /**
   * The keys to seal under, by person. One who has none gets one, which is an append for each.
   * @throws PersonKeyUnreadable and the errors of `Streams`
   */
  toSealFor (persons: readonly string[]): Promise<Map<string, PersonKey>>
  /**
   * The keys of what is sealed, by id; those that were erased are not among them.
   * @throws PersonKeyUnreadable, EventStoreUnavailable
   */
  toOpen (names: readonly KeyName[]): Promise<Map<string, Buffer>>
  /**
   * Takes what a look at the ledger found for persons: their keys, and who has none.
   * @param at when the look began, on the clock of `performance.now()`
   */
  learnFromLedger (persons: readonly string[], found: readonly KeptKey[], at: number): void
  /** Takes keys from events by which they were just made or erased; older ones are not trusted without a look. */
  learn (events: readonly StoredEvent[]): void
  /**
   * Ends the key of a person: what is sealed under it can be read nowhere. Other processes forget it within
   * `keyTrustedMs`; what they append meanwhile is as good as erased. Safe to repeat.
   * @returns whether there was one
   */
  erase (userId: string, phoneNumber: string): Promise<boolean>
  close (): void
}

/** A key is there, and none of the keys that are set decrypts it: it is not erased, and an operator mends it. */
export class PersonKeyUnreadable extends Error {
  override readonly name = 'PersonKeyUnreadable'
}

/** So long a process uses a key without another look, in milliseconds. */
export const keyTrustedMs = 2_000
