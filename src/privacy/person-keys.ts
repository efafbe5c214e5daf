// The keys that seal personal data. The newest event of a person's stream in the log decides whether there is one. The
// ledger is a cache of that and may be emptied at any time. Memory keeps keys only briefly, so that an erased key is
// soon forgotten.
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Pool } from 'pg'
import { currentVersion, tryDecode } from '../domain/events.js'
import { personIn, personKeyStream, personOf } from '../domain/sealed.js'
import type { StoredEvent } from '../domain/stored-event.js'
import type { PersonKeyEvent } from '../features/persons/events.js'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import { lookUp } from '../postgres/batcher.js'
import { seal, type SecretKeys, type SealedRow, UnknownSecretKey, unseal } from './sealed-text.js'

/** Stored with a sealed text, to find its key. */
export interface KeyName { person: string, keyId: string }

/** A key exists, but no configured SECRET_KEY decrypts it. It is not erased: an operator must fix the settings. */
export class PersonKeyUnreadable extends Error {
  override readonly name = 'PersonKeyUnreadable'
}

type LogStreams = Pick<Streams, 'read' | 'last' | 'append' | 'delete'>

/** The event that decides whether there is a key, and the last revision of the stream. */
interface Newest extends KeptKey { event: PersonKeyEvent, revision: bigint }

/**
 * Works on the streams of many persons, 32 at a time. Each call has its own limit, so a look-up does not queue after
 * bulk work. After an error it starts nothing more.
 * @throws the first error; work already started goes on
 */
export async function aFewAtOnce<Item, Result> (
  items: readonly Item[], work: (item: Item) => Promise<Result>
): Promise<Result[]> {
  const limit = pLimit(32)
  return await limit.map(items, work).finally(() => limit.clearQueue())
}

/** Two processes that create or erase a person's key at once agree within a few rounds. */
const giveUpAfterMs = 5_000

/**
 * Creates a key for the person; if another process is faster, returns that key. An unknown outcome becomes
 * EventStoreUnavailable: nothing was sealed with the key or sent yet, so a retry is safe.
 * @returns with the `key` itself if this call created it
 * @throws EventStoreUnavailable and the other errors of `Streams`, except AppendOutcomeUnknown
 */
async function createKey (
  streams: LogStreams, secretKeys: SecretKeys, person: string
): Promise<KeptKey & { key?: Buffer }> {
  const [keyId, key] = [randomUUID(), randomBytes(32)]
  const wrapped = seal(secretKeys, wrappedFor(person, keyId), key.toString('base64'))
  const { key_id: wrapped_by, sealed } = wrapped
  const data = { key_id: keyId, wrapped_by, wrapped: sealed, created_at: new Date().toISOString() }
  try {
    for (const giveUpAt = Date.now() + giveUpAfterMs; Date.now() < giveUpAt; await delay(Math.random() * 20)) {
      const made = await appendKey(streams, person, { type: 'PersonKeyCreated', data }, noStream)
      if (made !== undefined) return { person, keyId, wrapped, key }
      const newest = await currentKey(streams, person)
      if (newest?.wrapped) return newest
      if (newest) await end(streams, person, newest.revision) // finish an erasure that broke off
    }
  } catch (cause) {
    if (!(cause instanceof AppendOutcomeUnknown)) throw cause
    throw new EventStoreUnavailable('the event store did not say whether a person has a key', { cause })
  }
  throw new EventStoreUnavailable('the stream of a person\'s key is written to by others all the time')
}

/** Erases the person's key for good. @returns its id, if there was one */
async function eraseKey (streams: LogStreams, person: string): Promise<string | undefined> {
  for (;;) {
    const newest = await currentKey(streams, person)
    if (!newest) return undefined
    const { keyId, wrapped, revision } = newest
    const data = { key_id: keyId, erased_at: new Date().toISOString() }
    const last = wrapped ? await appendKey(streams, person, { type: 'PersonKeyErased', data }, revision) : revision
    if (last === undefined) continue
    await end(streams, person, last)
    return keyId
  }
}

/** @returns the revision; undefined when another process was first */
export async function appendKey (
  streams: Pick<Streams, 'append'>, person: string, { type, data }: PersonKeyEvent, expected: bigint
): Promise<bigint | undefined> {
  const proposed = { id: randomUUID(), type, data, metadata: { schema_version: currentVersion(type) } }
  return (await unlessConflict(streams.append(personKeyStream(person), [proposed], expected)))?.revision
}

async function end (streams: LogStreams, person: string, expected: bigint): Promise<void> {
  await unlessConflict(streams.delete(personKeyStream(person), expected))
}

/** The key that an event creates or erases, if it is valid and on the stream of a person. */
export function keyIn (stored: StoredEvent): KeptKey[] {
  const person = personIn(stored.stream)
  const event = keyEventIn(stored)
  return person !== undefined && event ? [keptIn(person, event)] : []
}

function keyEventIn (stored: StoredEvent): PersonKeyEvent | undefined {
  const { event } = tryDecode(stored)
  return event?.type === 'PersonKeyCreated' || event?.type === 'PersonKeyErased' ? event : undefined
}

/**
 * The person's newest key according to the log. Others may append anything, so only the newest valid event of ours
 * counts. @throws EventStoreUnavailable
 */
export async function currentKey (
  streams: Pick<Streams, 'read' | 'last'>, person: string
): Promise<Newest | undefined> {
  const stream = personKeyStream(person)
  const last = await streams.last(stream)
  return last && (newestIn(person, [last]) ?? newestIn(person, await streams.read(stream)))
}

/** Additional authenticated data of a wrapped key. */
export const wrappedFor = (person: string, keyId: string) => `${person} ${keyId}`

/** @param events the last one or all of the person's stream */
export function newestIn (person: string, events: readonly StoredEvent[]): Newest | undefined {
  for (const stored of events.toReversed()) {
    const event = keyEventIn(stored)
    if (event) return { ...keptIn(person, event), event, revision: events.at(-1)?.revision ?? stored.revision }
  }
  return undefined
}

function keptIn (person: string, { type, data }: PersonKeyEvent): KeptKey {
  const wrapped = type === 'PersonKeyErased' ? null : { key_id: data.wrapped_by, sealed: data.wrapped }
  return { person, keyId: data.key_id, wrapped }
}

/** Undefined when another process was first. */
export async function unlessConflict<Result> (work: Promise<Result>): Promise<Result | undefined> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof RevisionConflict)) throw error
    return undefined
  })
}

/** A row of the ledger; without `wrapped` the key was erased. */
export interface KeptKey extends KeyName { wrapped: SealedRow | null }

const keyColumns = `person, key_id AS "keyId", CASE WHEN wrapped IS NOT NULL
  THEN json_build_object('key_id', wrapped_by, 'sealed', encode(wrapped, 'base64')) END AS wrapped`

/** The person's unerased key in the ledger. */
const keyOfPerson = {
  name: 'person-key',
  types: ['text'],
  text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE person = $1 AND wrapped IS NOT NULL`
}

async function findKeys (pool: Pool, keyIds: readonly string[]): Promise<KeptKey[]> {
  const { rows } = await pool.query<KeptKey>({
    name: 'person-keys',
    // A sub-select hides the array's length from the planner, so one plan serves any number.
    text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE key_id = ANY ((SELECT $1::uuid[])::uuid[])`,
    values: [keyIds]
  })
  return rows
}

/** An erased key stays erased. @param replaces rows that wrap a key in another way */
export async function noteKeys (pool: Pool, keys: readonly KeptKey[], replaces = false): Promise<void> {
  await pool.query({
    name: 'note-person-keys',
    text: `
      INSERT INTO ledger.person_keys (key_id, person, wrapped_by, wrapped)
      SELECT id, person, wrapped_by, decode(wrapped, 'base64')
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS noted (id, person, wrapped_by, wrapped)
      ORDER BY id
      ON CONFLICT (key_id) DO UPDATE SET wrapped_by = excluded.wrapped_by, wrapped = excluded.wrapped
      WHERE excluded.wrapped IS NULL OR ($5 AND person_keys.wrapped IS NOT NULL)`,
    values: [
      keys.map(({ keyId }) => keyId), keys.map(({ person }) => person),
      keys.map(({ wrapped }) => wrapped?.key_id ?? null), keys.map(({ wrapped }) => wrapped?.sealed ?? null), replaces
    ]
  })
}

/** Undefined when the key was erased. @throws PersonKeyUnreadable */
export function unwrap (secretKeys: SecretKeys, { person, keyId, wrapped }: KeptKey): Buffer | undefined {
  if (!wrapped) return undefined
  try {
    return Buffer.from(unseal(secretKeys, wrappedFor(person, keyId), wrapped), 'base64')
  } catch (cause) {
    throw new PersonKeyUnreadable(cause instanceof UnknownSecretKey ? otherKey : changed, { cause })
  }
}

/** Says how to fix it. */
export const otherKey = 'the keys of persons in the log are encrypted with another SECRET_KEY: put the former one into ' +
  'SECRET_KEY_PREVIOUS, which takes several with commas between them'
const changed = 'the key of a person in the log was changed: restore the log, or put back the event'

/** 32 bytes. A person may have had several keys, one after another. */
interface PersonKey extends KeyName { key: Buffer }

interface PersonKeysOptions {
  pool: Pool
  /** Without the codec: events stay sealed. */
  streams: LogStreams
  secretKeys: SecretKeys
  /** Replaces a user or a number in stream names. */
  digest (text: string): string
}

/** How long a process uses a cached key, in milliseconds. */
export const keyTrustedMs = 2_000

/**
 * About 400 bytes each, at most 1,000: a person has 200 characters, a key id 36 and a key 32 bytes, also in events of
 * other writers. So eight megabytes, and never more than twenty.
 */
const remembered = { max: 20_000, ttl: keyTrustedMs, ttlResolution: 10 }

const mostAtOnce = 500
const noteAfterMs = 500

/** Caches an erased key; erasure is final. */
const erased = Promise.resolve(undefined)

export class PersonKeys {
  /** By person, also pending ones, so that concurrent callers share the look-up. */
  readonly #current = new LRUCache<string, Promise<PersonKey>>(remembered)

  /** By id, also pending ones. */
  readonly #found = new LRUCache<string, Promise<Buffer | undefined>>(remembered)
  readonly #finder = new DataLoader((names: readonly KeyName[]) => this.#find(names), {
    cacheKeyFn: ({ keyId }) => keyId, cacheMap: this.#found, maxBatchSize: mostAtOnce
  })

  /** Writes keys to the ledger in batches; no caller waits for it. */
  readonly #notes = new DataLoader(async (keys: readonly KeptKey[]) => {
    await noteKeys(this.options.pool, keys)
    return keys
  }, { cache: false, maxBatchSize: mostAtOnce, batchScheduleFn: (note) => { setTimeout(note, noteAfterMs).unref() } })

  #forgetting: NodeJS.Timeout | undefined

  constructor (private readonly options: PersonKeysOptions) {}

  /** The person as named in stream names. */
  personOf (userId: string, numberDigest: string): string {
    return personOf(this.options.digest(userId), numberDigest)
  }

  /**
   * Keys to seal with, by person. Creates missing ones, with one append each.
   * @param areNew most likely nobody has a key: creates it at once, and looks for one only when that fails
   * @throws PersonKeyUnreadable and the errors of `Streams`
   */
  async toSealFor (persons: readonly string[], areNew = false): Promise<Map<string, PersonKey>> {
    const keys = await Promise.all([...new Set(persons)].map((person) =>
      this.#current.get(person) ?? this.#findOrMake(person, areNew)))
    return new Map(keys.map((key) => [key.person, key]))
  }

  /**
   * Keys to open with, by id; erased ones are missing.
   * @throws PersonKeyUnreadable, EventStoreUnavailable
   */
  async toOpen (names: readonly KeyName[]): Promise<Map<string, Buffer>> {
    const keys = await Promise.all(names.map((name) => this.#found.get(name.keyId) ?? this.#finder.load(name)))
    return new Map(names.flatMap(({ keyId }, index) => {
      const key = keys[index]
      return key ? [[keyId, key]] : []
    }))
  }

  /**
   * Caches keys that events just created or erased. An older creation is not trusted, as the key may be erased since.
   */
  learn (events: readonly StoredEvent[]): void {
    for (const event of events) {
      const age = Math.max(0, Date.now() - event.created.getTime())
      for (const kept of keyIn(event)) {
        if (kept.wrapped && (age >= keyTrustedMs || this.#found.has(kept.keyId))) continue
        try {
          this.#keep(kept, unwrap(this.options.secretKeys, kept), performance.now() - (kept.wrapped ? age : 0))
        } catch (error) {
          if (!(error instanceof PersonKeyUnreadable)) throw error // its user gets the error
        }
      }
    }
  }

  /**
   * Erases a person's key, so that nobody can read what it sealed. Other processes forget it within `keyTrustedMs`;
   * what they append until then is as good as erased. Safe to repeat.
   * @returns whether there was one
   */
  async erase (userId: string, phoneNumber: string): Promise<boolean> {
    const { pool, streams, digest } = this.options
    const person = personOf(digest(userId), digest(phoneNumber))
    const { rows: known } = await pool.query<{ id: string }>( // before the log, so that it lacks keys created later
      'SELECT key_id AS id FROM ledger.person_keys WHERE person = $1', [person])
    const ended = await eraseKey(streams, person)
    const over = [...new Set([...known.map(({ id }) => id), ended ?? []].flat())].map((keyId) => ({ person, keyId }))
    await noteKeys(pool, over.map((name) => ({ ...name, wrapped: null })))
    for (const name of over) this.#keep(name, undefined)
    return ended !== undefined
  }

  /** @param at when the look-up began, on the clock of `performance.now()` */
  #keep ({ person, keyId }: KeyName, key: Buffer | undefined, at = performance.now()): void {
    if (this.#found.get(keyId) === erased) return
    this.#found.set(keyId, key ? Promise.resolve(key) : erased, { start: at })
    if (key) this.#current.set(person, Promise.resolve({ person, keyId, key }), { start: at })
    else this.#current.delete(person)
    this.#forgetLater()
  }

  /** Purges expired keys from memory, not just from use. */
  #forgetLater (): void {
    this.#forgetting ??= setTimeout(() => {
      this.#forgetting = undefined
      for (const keys of [this.#current, this.#found]) keys.purgeStale()
      if (this.#found.size > 0) this.#forgetLater()
    }, keyTrustedMs).unref()
  }

  #findOrMake (person: string, isNew: boolean): Promise<PersonKey> {
    const at = performance.now()
    const finding = this.#inLedgerOrMade(person, isNew).then((kept) => {
      const { keyId, key = unwrap(this.options.secretKeys, kept) } = kept
      if (!key) throw new Error(`the key ${keyId} is erased`) // neither source returns an erased key
      this.#keep(kept, key, at)
      return { person, keyId, key }
    })
    this.#current.set(person, finding)
    finding.catch(() => { if (this.#current.get(person) === finding) this.#current.delete(person) })
    return finding
  }

  async #inLedgerOrMade (person: string, isNew: boolean): Promise<KeptKey & { key?: Buffer }> {
    const { pool, streams, secretKeys } = this.options
    const find = () => lookUp<KeptKey>(pool, keyOfPerson, [person]).catch(() => undefined) // the log has it
    const row = isNew ? undefined : await find()
    if (row) return row
    const kept = await createKey(streams, secretKeys, person)
    this.#notes.load(kept).catch(() => {})
    return kept
  }

  /**
   * Reads the ledger once for all keys, then the log once for each person whose key is missing there. Only the log
   * tells an erased key from one that the ledger has lost, which it may at any time.
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
        const key = unwrap(this.options.secretKeys, known.get(keyId) ?? { person, keyId, wrapped: null })
        this.#keep({ person, keyId }, key, at)
        return key
      } catch (error) {
        this.#found.delete(keyId)
        if (error instanceof PersonKeyUnreadable) return error
        throw error
      }
    })
  }

  /** A key that is no longer its person's current one was erased: keys are created before anything is sealed. */
  async #inLog (names: readonly KeyName[]): Promise<KeptKey[]> {
    const persons = [...new Set(names.map(({ person }) => person))]
    const current = await aFewAtOnce(persons, (person) => currentKey(this.options.streams, person))
    return names.map(({ person, keyId }) => {
      const newest = current[persons.indexOf(person)]
      return newest?.keyId === keyId ? newest : { person, keyId, wrapped: null }
    })
  }
}
