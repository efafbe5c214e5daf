// The keys that the data of persons is sealed under: found in memory for a moment, else in the ledger, else in the log.
// An erased key is forgotten by itself, as nothing stays in memory for long.
import type { StoredEvent } from '../domain/stored-event.js'
import {
  aFewAtOnce, currentKey, type KeptKey, keptKey, keyColumns, keyErasedBy, keyMadeBy, type KeyName, type KeyRow,
  LedgerKeys, LogKeys, unwrap, unwrapIfReadable
} from './log-keys.js'
import type { Pool } from 'pg'
import { personOf } from '../features/persons/events.js'
import type { Streams } from '../log/event-log.js'
import type { SecretKeys } from './sealed-text.js'
import { noteKeysOfLog } from './rewrap.js'

/** A key of 32 bytes that data of a person is sealed under; a person may have had several, one after the other. */
export interface PersonKey { person: string, keyId: string, key: Buffer }

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

/** So long a process uses a key without another look, in milliseconds. */
export const keyTrustedMs = 2_000

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

/** What is known of a key. */
export interface Known {
  person: string
  keyId: string
  /** Nothing when it was erased, which is for good. */
  key: Buffer | undefined
}

interface Entry extends Known { at: number }

/**
 * Some 400 bytes each, and 1,000 at most: a person has 200 characters, a key id 36 and a key 32 bytes, in events of
 * other writers too. So eight megabytes, and never more than twenty.
 */
const mostKept = 20_000

export class KeyCache {
  readonly #byId = new Map<string, Entry>()
  readonly #current = new Map<string, Entry>()
  readonly #absent = new Map<string, number>()

  /** @param trustedMs how long a key that was found is used without another look, in milliseconds */
  constructor (private readonly trustedMs: number) {}

  /** Nothing when it is not known, or was not looked at lately. */
  find (keyId: string): Known | undefined {
    const entry = this.#byId.get(keyId)
    return entry && (entry.key === undefined || this.#isFresh(entry)) ? entry : undefined
  }

  /** The key that data of the person is sealed under now. */
  current (person: string): PersonKey | undefined {
    const entry = this.#current.get(person)
    if (!entry?.key || !this.#isFresh(entry)) return undefined
    return { person, keyId: entry.keyId, key: entry.key }
  }

  /** The ledger had no key of the person a moment ago. */
  isAbsent (person: string): boolean {
    const at = this.#absent.get(person)
    return at !== undefined && this.#isFresh({ at })
  }

  /** @param at as for `keep` */
  keepAbsent (person: string, at: number): void {
    this.#absent.delete(person)
    this.#absent.set(person, at)
    const [oldest] = this.#absent.keys()
    if (oldest !== undefined && this.#absent.size > mostKept) this.#absent.delete(oldest)
  }

  /** @param at when it was asked for, on the clock of `performance.now()` */
  keep ({ person, keyId, key }: Known, at: number): void {
    if (this.#byId.get(keyId)?.key === undefined && this.#byId.has(keyId)) return
    const entry = { person, keyId, key, at }
    this.#byId.delete(keyId)
    this.#byId.set(keyId, entry)
    this.#absent.delete(person)
    if (key) this.#current.set(person, entry)
    else this.#forgetCurrent(entry)
    const [oldest] = this.#byId.values()
    if (oldest && this.#byId.size > mostKept) this.#forget(oldest)
  }

  /** Takes the keys that are not trusted any more out of memory. */
  sweep (): void {
    for (const [person, at] of this.#absent) if (!this.#isFresh({ at })) this.#absent.delete(person)
    for (const entry of this.#byId.values()) {
      if (this.#isFresh(entry)) return // the others were kept later
      this.#forget(entry)
    }
  }

  #forget (entry: Entry): void {
    this.#byId.delete(entry.keyId)
    this.#forgetCurrent(entry)
  }

  #forgetCurrent ({ person, keyId }: Entry): void {
    if (this.#current.get(person)?.keyId === keyId) this.#current.delete(person)
  }

  #isFresh ({ at }: Pick<Entry, 'at'>): boolean {
    return performance.now() - at < this.trustedMs
  }
}

/** Of one look-up. With more, the ledger takes all of the log's first, as one that is new does. */
const mostReadApart = 100
/** Not again so soon: what the ledger lacks then was erased, or it is emptied all the time. */
const nextWalkMs = 60_000

export class KeptKeys {
  readonly #closing = new AbortController()
  #walking: Promise<void> | undefined
  #nextWalkAt = 0

  constructor (
    private readonly pool: Pool, private readonly ledger: LedgerKeys,
    private readonly streams: Pick<Streams, 'head' | 'follow' | 'read' | 'last'>
  ) {}

  /**
   * One statement for all; of those that the ledger does not have, one read for each person. Only that tells an erased
   * key from one that the ledger has lost, as it may at any time.
   * @throws EventStoreUnavailable
   */
  async find (names: readonly KeyName[]): Promise<{ inLedger: KeptKey[], inLog: KeptKey[] }> {
    const noted = await this.#inLedger(names).catch(() => undefined) // the log has them anyway
    const others = without(names, noted ?? [])
    const isBulk = noted !== undefined && others.length > mostReadApart
    const inBulk = isBulk ? await this.#takeInBulk(others).catch(() => []) : []
    const inLog = await this.#inLog(without(others, inBulk))
    return { inLedger: [...noted ?? [], ...inBulk], inLog }
  }

  close (): void {
    this.#closing.abort()
  }

  async #inLedger (names: readonly KeyName[]): Promise<KeptKey[]> {
    return await this.ledger.find(names.map(({ keyId }) => keyId))
  }

  /** @throws what the log or the ledger says */
  async #takeInBulk (names: readonly KeyName[]): Promise<KeptKey[]> {
    const { pool, streams } = this
    if (performance.now() < this.#nextWalkAt) return []
    this.#walking ??= noteKeysOfLog({ pool, streams, signal: this.#closing.signal }).finally(() => {
      this.#walking = undefined
      this.#nextWalkAt = performance.now() + nextWalkMs
    })
    await this.#walking
    return await this.#inLedger(names)
  }

  /** A key that its person does not have any more was erased: keys are made before what is sealed under them. */
  async #inLog (names: readonly KeyName[]): Promise<KeptKey[]> {
    const persons = [...new Set(names.map(({ person }) => person))]
    const found = await aFewAtOnce(persons, async (person) =>
      [person, await currentKey(this.streams, person)] as const)
    const current = new Map(found)
    return names.map(({ person, keyId }) => {
      const newest = current.get(person)
      return newest?.keyId === keyId ? newest : { person, keyId, wrapped: undefined }
    })
  }
}

function without (names: readonly KeyName[], found: readonly KeptKey[]): KeyName[] {
  const has = new Set(found.map(({ keyId }) => keyId))
  return names.filter(({ keyId }) => !has.has(keyId))
}

/** Many go in one statement. */
const everyMs = 100
const mostAtOnce = 500

export class KeyNotes {
  readonly #waiting: KeptKey[] = []
  #timer: NodeJS.Timeout | undefined

  constructor (private readonly ledger: Pick<LedgerKeys, 'note'>) {}

  add (keys: readonly KeptKey[]): void {
    this.#waiting.push(...keys)
    if (this.#waiting.length >= mostAtOnce) this.#note()
    else this.#timer ??= setTimeout(() => this.#note(), everyMs).unref()
  }

  /** These were erased: they are not to be written down. */
  drop (keyIds: readonly string[]): void {
    const waiting = this.#waiting.splice(0)
    this.#waiting.push(...waiting.filter(({ keyId }) => !keyIds.includes(keyId)))
  }

  close (): void {
    clearTimeout(this.#timer)
  }

  #note (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.ledger.note(this.#waiting.splice(0)).catch(() => {})
  }
}

/** For a look-up of persons in one statement. */
export function keysBeside (keys: Pick<PersonKeys, 'learnFromLedger'>) {
  return {
    select: (person: string) =>
      `SELECT ${keyColumns} FROM ledger.person_keys WHERE person = ${person} AND wrapped IS NOT NULL LIMIT 1`,
    found (persons: readonly string[], rows: ReadonlyArray<KeyRow | Record<keyof KeyRow, null>>, at: number): void {
      keys.learnFromLedger(persons, rows.flatMap((row) => row.id === null ? [] : keptKey(row)), at)
    }
  }
}

type Look = (names: readonly KeyName[]) => Promise<Known[]>

/** What others look for already is not looked for again. A look of theirs that fails is made once more, alone. */
export function lookedForOnce (look: Look): Look {
  const looking = new Map<string, Promise<Known[]>>() // by the id of the key
  return async (names) => {
    if (names.length === 0) return []
    const ours = names.filter(({ keyId }) => !looking.has(keyId))
    const theirs = names.filter(({ keyId }) => looking.has(keyId))
    const others = new Set(theirs.flatMap(({ keyId }) => looking.get(keyId) ?? []))
    const own = look(ours).finally(() => { for (const { keyId } of ours) looking.delete(keyId) })
    for (const { keyId } of ours) looking.set(keyId, own)
    const found = Promise.all(others).catch(async () => [await look(theirs)]) // what failed may be none of these
    const [known, all] = await Promise.all([own, found])
    return [...known, ...all.flat().filter(({ keyId }) => names.some((name) => name.keyId === keyId))]
  }
}
