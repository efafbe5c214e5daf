// Finds wrapped keys by their ids: in the ledger, else in the log.
import type { Streams } from '../../event-store/streams.js'
import { inLanes } from './in-lanes.js'
import { KeysInBulk } from './keys-in-bulk.js'
import type { KeptKey, LedgerKeys } from './ledger-keys.js'
import type { LogKeys } from './log-keys.js'
import type { KeyName } from './person-keys.js'

/** Of one look-up. With more, the ledger takes all of the log's first, as one that is new does. */
const mostReadApart = 100

export class KeptKeys {
  readonly #bulk: KeysInBulk

  constructor (
    private readonly ledger: LedgerKeys, private readonly log: LogKeys, streams: Pick<Streams, 'head' | 'follow'>
  ) {
    this.#bulk = new KeysInBulk(streams, ledger)
  }

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
    if (isBulk && inLog.some(({ wrapped }) => wrapped)) this.#bulk.beginAnew() // the ledger has lost what it was given
    return { inLedger: [...noted ?? [], ...inBulk], inLog }
  }

  close (): void {
    this.#bulk.close()
  }

  async #inLedger (names: readonly KeyName[]): Promise<KeptKey[]> {
    return await this.ledger.find(names.map(({ keyId }) => keyId))
  }

  /** @throws what either of them says */
  async #takeInBulk (names: readonly KeyName[]): Promise<KeptKey[]> {
    await this.#bulk.pass()
    return await this.#inLedger(names)
  }

  /** A key that its person does not have any more was erased: keys are made before what is sealed under them. */
  async #inLog (names: readonly KeyName[]): Promise<KeptKey[]> {
    const persons = [...new Set(names.map(({ person }) => person))]
    const found = await inLanes(persons, async (person) => [person, await this.log.current(person)] as const)
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
