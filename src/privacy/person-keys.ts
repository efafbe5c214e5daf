// The keys that the data of persons is sealed under: found in memory for a moment, else in the ledger, else in the log.
// An erased key is forgotten by itself, as nothing stays in memory for long.
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import type { StoredEvent } from '../domain/stored-event.js'
import { personOf } from '../features/persons/events.js'
import type { Streams } from '../log/event-log.js'
import {
  aFewAtOnce, createKey, currentKey, eraseKey, findKeys, idsOf, keyErasedBy, keyMadeBy, keyOf, noteKeys,
  PersonKeyUnreadable, unwrap, type KeptKey, type KeyName
} from './log-keys.js'
import type { SecretKeys } from './sealed-text.js'

/** A key of 32 bytes that data of a person is sealed under; a person may have had several, one after the other. */
export interface PersonKey extends KeyName { key: Buffer }

export interface PersonKeysOptions {
  pool: Pool
  /** As the event store has them: what is sealed stays so. */
  streams: Pick<Streams, 'read' | 'last' | 'append' | 'delete'>
  secretKeys: SecretKeys
  /** Stands for a user or a number in the name of a stream. */
  digest (text: string): string
}

/** So long a process uses a key without another look, in milliseconds. */
export const keyTrustedMs = 2_000

/**
 * Some 400 bytes each, and 1,000 at most: a person has 200 characters, a key id 36 and a key 32 bytes, in events of
 * other writers too. So eight megabytes, and never more than twenty.
 */
const remembered = { max: 20_000, ttl: keyTrustedMs, ttlResolution: 10 }

/** Keys of one statement. */
const mostAtOnce = 500
const noteAfterMs = 500

/** Of a key that was erased, which is for good. */
const erased = Promise.resolve(undefined)

export class PersonKeys {
  /** By person, also while it is looked for or made: those who ask at once get the same. */
  readonly #current = new LRUCache<string, Promise<PersonKey>>(remembered)

  /** By id, also while it is looked for. */
  readonly #found = new LRUCache<string, Promise<Buffer | undefined>>(remembered)
  readonly #finder = new DataLoader((names: readonly KeyName[]) => this.#find(names), {
    cacheKeyFn: ({ keyId }) => keyId, cacheMap: this.#found, maxBatchSize: mostAtOnce
  })

  /** Nobody waits until a key is noted: many go in one statement. */
  readonly #notes = new DataLoader(async (keys: readonly KeptKey[]) => {
    await noteKeys(this.options.pool, keys)
    return keys
  }, { cache: false, maxBatchSize: mostAtOnce, batchScheduleFn: (note) => { setTimeout(note, noteAfterMs).unref() } })

  #forgetting: NodeJS.Timeout | undefined

  constructor (private readonly options: PersonKeysOptions) {}

  /** As it stands in the names of streams. */
  personOf (userId: string, numberDigest: string): string {
    return personOf(this.options.digest(userId), numberDigest)
  }

  /**
   * The keys to seal under, by person. One who has none gets one, which is an append for each.
   * @param areNew most likely nobody has one: each is made at once, and looked for only where that fails
   * @throws PersonKeyUnreadable and the errors of `Streams`
   */
  async toSealFor (persons: readonly string[], areNew = false): Promise<Map<string, PersonKey>> {
    const keys = await Promise.all([...new Set(persons)].map((person) =>
      this.#current.get(person) ?? this.#findOrMake(person, areNew)))
    return new Map(keys.map((key) => [key.person, key]))
  }

  /**
   * The keys of what is sealed, by id; those that were erased are not among them.
   * @throws PersonKeyUnreadable, EventStoreUnavailable
   */
  async toOpen (names: readonly KeyName[]): Promise<Map<string, Buffer>> {
    const keys = await Promise.all(names.map((name) => this.#found.get(name.keyId) ?? this.#finder.load(name)))
    return new Map(names.flatMap(({ keyId }, index) => {
      const key = keys[index]
      return key ? [[keyId, key]] : []
    }))
  }

  /** Takes keys from events by which they were just made or erased; older ones are not trusted without a look. */
  learn (events: readonly StoredEvent[]): void {
    for (const key of events.flatMap((event) => keyErasedBy(event) ?? [])) this.#keep(key, undefined)
    for (const event of events) {
      const age = Math.max(0, Date.now() - event.created.getTime())
      const kept = age < keyTrustedMs ? keyMadeBy(event) : undefined
      if (!kept || this.#found.has(kept.keyId)) continue
      try {
        this.#keep(kept, unwrap(this.options.secretKeys, kept), performance.now() - age)
      } catch (error) {
        if (!(error instanceof PersonKeyUnreadable)) throw error // who needs it is told
      }
    }
  }

  /**
   * Ends the key of a person: what is sealed under it can be read nowhere. Other processes forget it within
   * `keyTrustedMs`; what they append meanwhile is as good as erased. Safe to repeat.
   * @returns whether there was one
   */
  async erase (userId: string, phoneNumber: string): Promise<boolean> {
    const { pool, streams, digest } = this.options
    const person = personOf(digest(userId), digest(phoneNumber))
    const known = await idsOf(pool, person) // before the log: a key that is made later is not among them
    const ended = await eraseKey(streams, person)
    const over = [...new Set(ended === undefined ? known : [...known, ended])].map((keyId) => ({ person, keyId }))
    await noteKeys(pool, over.map((name) => ({ ...name, wrapped: undefined })))
    for (const name of over) this.#keep(name, undefined)
    return ended !== undefined
  }

  /** @param at when it was asked for, on the clock of `performance.now()` */
  #keep ({ person, keyId }: KeyName, key: Buffer | undefined, at = performance.now()): void {
    if (this.#found.get(keyId) === erased) return
    this.#found.set(keyId, key ? Promise.resolve(key) : erased, { start: at })
    if (key) this.#current.set(person, Promise.resolve({ person, keyId, key }), { start: at })
    else this.#current.delete(person)
    this.#forgetLater()
  }

  /** Removes keys from memory that are too old to be used without another look. */
  #forgetLater (): void {
    this.#forgetting ??= setTimeout(() => {
      this.#forgetting = undefined
      for (const keys of [this.#current, this.#found]) keys.purgeStale()
      if (this.#found.size > 0) this.#forgetLater()
    }, keyTrustedMs).unref()
  }

  /** Found in the ledger or the log, or made. */
  #findOrMake (person: string, isNew: boolean): Promise<PersonKey> {
    const at = performance.now()
    const finding = this.#inLedgerOrMade(person, isNew).then((kept) => {
      const { keyId, key = unwrap(this.options.secretKeys, kept) } = kept
      if (!key) throw new Error(`the key ${keyId} is erased`) // neither gives one that is
      this.#keep(kept, key, at)
      return { person, keyId, key }
    })
    this.#current.set(person, finding)
    finding.catch(() => { if (this.#current.get(person) === finding) this.#current.delete(person) })
    return finding
  }

  async #inLedgerOrMade (person: string, isNew: boolean): Promise<KeptKey & { key?: Buffer }> {
    const { pool, streams, secretKeys } = this.options
    const inLedger = isNew ? undefined : await keyOf(pool, person).catch(() => undefined) // the log has it
    const kept = inLedger ?? await createKey(streams, secretKeys, person)
    if (!inLedger) this.#notes.load(kept).catch(() => {})
    return kept
  }

  /**
   * One statement for all; of those that the ledger does not have, one read for each person. Only that tells an erased
   * key from one that the ledger has lost, as it may at any time.
   * @throws EventStoreUnavailable
   */
  async #find (names: readonly KeyName[]): Promise<Array<Buffer | undefined | Error>> {
    const at = performance.now()
    const noted = await findKeys(this.options.pool, names.map(({ keyId }) => keyId)).catch(() => []) // the log has them
    const known = new Map(noted.map((kept) => [kept.keyId, kept]))
    for (const kept of await this.#inLog(names.filter(({ keyId }) => !known.has(keyId)))) {
      known.set(kept.keyId, kept)
      this.#notes.load(kept).catch(() => {})
    }
    return names.map(({ person, keyId }) => {
      try {
        const key = unwrap(this.options.secretKeys, known.get(keyId) ?? { person, keyId, wrapped: undefined })
        this.#keep({ person, keyId }, key, at)
        return key
      } catch (error) {
        this.#found.delete(keyId)
        if (error instanceof PersonKeyUnreadable) return error
        throw error
      }
    })
  }

  /** A key that its person does not have any more was erased: keys are made before what is sealed under them. */
  async #inLog (names: readonly KeyName[]): Promise<KeptKey[]> {
    const persons = [...new Set(names.map(({ person }) => person))]
    const current = await aFewAtOnce(persons, (person) => currentKey(this.options.streams, person))
    return names.map(({ person, keyId }) => {
      const newest = current[persons.indexOf(person)]
      return newest?.keyId === keyId ? newest : { person, keyId, wrapped: undefined }
    })
  }
}
