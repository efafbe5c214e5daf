// Finds the keys of persons: in memory, else in the ledger, else in the log.
import type { Pool } from 'pg'
import { personOf } from '../domain/person-key/events.js'
import type { Streams } from '../event-store/streams.js'
import { inLanes } from './in-lanes.js'
import { KeyCache, type Known } from './key-cache.js'
import { LedgerKeys, type KeptKey } from './ledger-keys.js'
import { LogKeys, wrappedFor } from './log-keys.js'
import { keyTrustedMs, PersonKeyUnreadable, type KeyName, type PersonKey, type PersonKeys } from './person-keys.js'
import { UnknownSecretKey, unseal, type SecretKeys } from './sealed-text.js'

export interface PersonKeysOptions {
  pool: Pool
  /** As the event store has them: what is sealed stays so. */
  streams: Pick<Streams, 'read' | 'last' | 'append' | 'delete'>
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
  readonly #sweeping: NodeJS.Timeout

  constructor (private readonly options: PersonKeysOptions) {
    this.#ledger = new LedgerKeys(options.pool)
    this.#log = new LogKeys(options.streams, options.secretKeys)
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
    for (const { keyId, key } of await this.#look([...asked.values()])) if (key) found.set(keyId, key)
    return found
  }

  async erase (userId: string, phoneNumber: string): Promise<boolean> {
    const { digest } = this.options
    const person = personOf(digest(userId), digest(phoneNumber))
    const known = await this.#ledger.idsOf(person) // before the log: a key that is made later is none of them
    const erased = await this.#log.erase(person)
    const over = [...new Set(erased === undefined ? known : [...known, erased])]
    await this.#ledger.note(over.map((keyId) => ({ person, keyId, wrapped: undefined })))
    for (const keyId of over) this.#cache.keep({ person, keyId, key: undefined }, performance.now())
    return erased !== undefined
  }

  close (): void {
    clearInterval(this.#sweeping)
  }

  /** Those who ask for the key of one person at once get the same. */
  async #make (person: string): Promise<PersonKey> {
    const making = this.#making.get(person) ?? this.#findOrMake(person).finally(() => this.#making.delete(person))
    this.#making.set(person, making)
    return await making
  }

  async #findOrMake (person: string): Promise<PersonKey> {
    const at = performance.now()
    const inLedger = await this.#ledger.current(person).catch(() => undefined) // the log has it anyway
    const kept = inLedger ?? await this.#log.create(person)
    if (!inLedger) this.#note([kept])
    const key = this.#unwrap(kept)
    if (!key) throw new Error(`the key ${kept.keyId} is erased`) // neither gives one that is
    this.#cache.keep({ ...kept, key }, at)
    return { person, keyId: kept.keyId, key }
  }

  /** One statement for all; of those that the ledger does not have, one read for each person. */
  async #look (names: readonly KeyName[]): Promise<Known[]> {
    if (names.length === 0) return []
    const at = performance.now()
    const inLedger = await this.#ledger.find(names.map(({ keyId }) => keyId)).catch(() => [])
    const has = new Set(inLedger.map(({ keyId }) => keyId))
    const inLog = await this.#lookInLog(names.filter(({ keyId }) => !has.has(keyId)))
    if (inLog.length > 0) this.#note(inLog)
    const known = [...inLedger, ...inLog].map((kept) => ({ ...kept, key: this.#unwrap(kept) }))
    for (const each of known) this.#cache.keep(each, at)
    return known
  }

  /** A key that its person does not have any more was erased: keys are made before what is sealed under them. */
  async #lookInLog (names: readonly KeyName[]): Promise<KeptKey[]> {
    const persons = [...new Set(names.map(({ person }) => person))]
    const found = await inLanes(persons, async (person) => [person, await this.#log.current(person)] as const)
    const current = new Map(found)
    return names.map(({ person, keyId }) => {
      const newest = current.get(person)
      return newest?.keyId === keyId ? newest : { person, keyId, wrapped: undefined }
    })
  }

  /** Nobody waits for it: whoever does not find it in the ledger finds it in the log. */
  #note (keys: readonly KeptKey[]): void {
    this.#ledger.note(keys).catch(() => {})
  }

  /** @throws PersonKeyUnreadable */
  #unwrap ({ person, keyId, wrapped }: KeptKey): Buffer | undefined {
    if (!wrapped) return undefined
    try {
      return Buffer.from(unseal(this.options.secretKeys, wrappedFor(person, keyId), wrapped), 'base64')
    } catch (cause) {
      throw new PersonKeyUnreadable(cause instanceof UnknownSecretKey ? otherKey : changed, { cause })
    }
  }
}

const otherKey = 'the keys of persons in the log are encrypted with another SECRET_KEY: put the former one into ' +
  'SECRET_KEY_PREVIOUS, which takes several with commas between them'
const changed = 'the key of a person in the log was changed: restore the log, or put back the event'
