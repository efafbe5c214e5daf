// Finds the keys of persons: in memory, else in the ledger, else in the log.
import type { Pool } from 'pg'
import { personOf } from '../../features/persons/key-events.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../log/event-log.js'
import { KeyCache, type Known } from './key-cache.js'
import { LedgerKeys, type KeptKey } from './ledger-keys.js'
import { KeyNotes } from './key-notes.js'
import { KeptKeys } from './kept-keys.js'
import { keyErasedBy, keyMadeBy, LogKeys } from './log-keys.js'
import { lookedForOnce } from './looked-for-once.js'
import { keyTrustedMs, type KeyName, type PersonKey, type PersonKeys } from './person-keys.js'
import type { SecretKeys } from '../sealed-text.js'
import { unwrap, unwrapIfReadable } from './unwrap.js'

export interface PersonKeysOptions {
  pool: Pool
  /** As the event store has them: what is sealed stays so. */
  streams: Pick<Streams, 'read' | 'last' | 'append' | 'delete' | 'head' | 'follow'>
  secretKeys: SecretKeys
  /** Stands for a user or a number in the name of a stream. */
  digest (text: string): string
}

export function openPersonKeys (options: PersonKeysOptions): PersonKeys {
  return new CachedKeys(options)
}

class CachedKeys implements PersonKeys {
  readonly #cache = new KeyCache(keyTrustedMs)
  readonly #ledger: LedgerKeys
  readonly #log: LogKeys
  readonly #making = new Map<string, Promise<PersonKey>>()
  readonly #lookOnce = lookedForOnce((names) => this.#look(names))
  readonly #sweeping: NodeJS.Timeout
  readonly #notes: KeyNotes
  readonly #kept: KeptKeys

  constructor (private readonly options: PersonKeysOptions) {
    this.#ledger = new LedgerKeys(options.pool)
    this.#log = new LogKeys(options.streams, options.secretKeys)
    this.#notes = new KeyNotes(this.#ledger)
    this.#kept = new KeptKeys(options.pool, this.#ledger, options.streams)
    this.#sweeping = setInterval(() => this.#cache.sweep(), keyTrustedMs).unref()
  }

  personOf (userId: string, numberDigest: string): string {
    return personOf(this.options.digest(userId), numberDigest)
  }

  async toSealFor (persons: readonly string[]): Promise<Map<string, PersonKey>> {
    const keys = await Promise.all([...new Set(persons)].map(async (person) =>
      this.#cache.current(person) ?? await this.#make(person)))
    return new Map(keys.map((key) => [key.person, key]))
  }

  async toOpen (names: readonly KeyName[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    const asked = new Map<string, KeyName>()
    for (const name of names) {
      const known = this.#cache.find(name.keyId)
      if (!known) asked.set(name.keyId, name)
      else if (known.key) found.set(name.keyId, known.key)
    }
    for (const { keyId, key } of await this.#lookOnce([...asked.values()])) if (key) found.set(keyId, key)
    return found
  }

  learnFromLedger (persons: readonly string[], found: readonly KeptKey[], at: number): void {
    const has = new Set(found.map(({ person }) => person))
    const without = persons.filter((person) => !has.has(person) && !this.#cache.current(person))
    for (const person of without) this.#cache.keepAbsent(person, at)
    for (const kept of found) this.#learn(kept, at)
  }

  learn (events: readonly StoredEvent[]): void {
    const [erased, made] = [events.flatMap((event) => keyErasedBy(event) ?? []), events.filter(isRecent)]
    for (const key of erased) this.#cache.keep({ ...key, key: undefined }, performance.now())
    for (const event of made) {
      const kept = keyMadeBy(event)
      if (kept) this.#learn(kept, performance.now() - ageOf(event))
    }
  }

  #learn (kept: KeptKey, at: number): void {
    if (this.#cache.find(kept.keyId)) return
    const key = unwrapIfReadable(this.options.secretKeys, kept)
    if (key) this.#cache.keep({ ...kept, key }, at)
  }

  async erase (userId: string, phoneNumber: string): Promise<boolean> {
    const { digest } = this.options
    const person = personOf(digest(userId), digest(phoneNumber))
    const known = await this.#ledger.idsOf(person) // before the log: a key that is made later is not among them
    const erased = await this.#log.erase(person)
    const over = [...new Set(erased === undefined ? known : [...known, erased])]
    this.#notes.drop(over)
    await this.#ledger.note(over.map((keyId) => ({ person, keyId, wrapped: undefined })))
    for (const keyId of over) this.#cache.keep({ person, keyId, key: undefined }, performance.now())
    return erased !== undefined
  }

  close (): void {
    clearInterval(this.#sweeping)
    this.#notes.close()
    this.#kept.close()
  }

  /** Those who ask for the key of one person at once get the same. */
  async #make (person: string): Promise<PersonKey> {
    const making = this.#making.get(person) ?? this.#findOrMake(person).finally(() => this.#making.delete(person))
    this.#making.set(person, making)
    return await making
  }

  async #findOrMake (person: string): Promise<PersonKey> {
    const at = performance.now()
    const isAbsent = this.#cache.isAbsent(person)
    const inLedger = isAbsent ? undefined : await this.#ledger.current(person).catch(() => undefined) // the log has it
    const { kept, key: made } = inLedger ? { kept: inLedger } : await this.#log.create(person)
    if (!inLedger) this.#notes.add([kept])
    const key = made ?? unwrap(this.options.secretKeys, kept)
    if (!key) throw new Error(`the key ${kept.keyId} is erased`) // neither gives one that is
    this.#cache.keep({ ...kept, key }, at)
    return { person, keyId: kept.keyId, key }
  }

  async #look (names: readonly KeyName[]): Promise<Known[]> {
    if (names.length === 0) return []
    const at = performance.now()
    const { inLedger, inLog } = await this.#kept.find(names)
    if (inLog.length > 0) this.#notes.add(inLog)
    const known = [...inLedger, ...inLog].map((kept) => ({ ...kept, key: unwrap(this.options.secretKeys, kept) }))
    for (const each of known) this.#cache.keep(each, at)
    return known
  }
}

const ageOf = ({ created }: StoredEvent) => Math.max(0, Date.now() - created.getTime())
const isRecent = (event: StoredEvent) => ageOf(event) < keyTrustedMs
