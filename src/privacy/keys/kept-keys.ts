// Finds wrapped keys by their ids: in the ledger, else in the log.
import type { Pool } from 'pg'
import type { Streams } from '../../log/event-log.js'
import type { KeptKey, LedgerKeys } from './ledger-keys.js'
import { aFewAtOnce, currentKey } from './log-keys.js'
import type { KeyName } from './person-keys.js'
import { noteKeysOfLog } from './walk.js'

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
