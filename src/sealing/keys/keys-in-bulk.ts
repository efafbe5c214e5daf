// Takes the keys of all persons from the log into the ledger at once: for who reads the log beside an empty ledger.
import { tryDecode } from '../../domain/events.js'
import { personIn } from '../../domain/person-key/events.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../event-store/streams.js'
import type { KeptKey, LedgerKeys } from './ledger-keys.js'
import { keyMadeBy } from './log-keys.js'

type LogStreams = Pick<Streams, 'head' | 'follow'>

export class KeysInBulk {
  #passed = 0n
  #passing: Promise<unknown> = Promise.resolve()
  readonly #closing = new AbortController()

  constructor (private readonly streams: LogStreams, private readonly ledger: LedgerKeys) {}

  /**
   * The ledger then has every key that was made since the last pass and is not erased.
   * @throws EventStoreUnavailable, and what Postgres says
   */
  async pass (): Promise<void> {
    const passing = this.#passing.catch(() => {}).then(() => this.#pass())
    this.#passing = passing
    await passing
  }

  /** The next pass takes all keys once more. */
  beginAnew (): void {
    this.#passed = 0n
  }

  close (): void {
    this.#closing.abort()
  }

  /** What was erased comes first, so that its key is not written down again. */
  async #pass (): Promise<void> {
    const head = await this.streams.head()
    await this.#note('PersonKeyErased', head)
    await this.#note('PersonKeyCreated', head)
    if (head > this.#passed) this.#passed = head
  }

  async #note (type: 'PersonKeyErased' | 'PersonKeyCreated', until: bigint): Promise<void> {
    const { signal } = this.#closing
    if (until <= this.#passed) return
    for await (const { events, position } of this.streams.follow({ after: this.#passed, eventTypes: [type], signal })) {
      const kept = new Map(events.flatMap(keptIn).map((key) => [key.keyId, key]))
      if (kept.size > 0) await this.ledger.note([...kept.values()])
      if (position >= until) return
    }
    signal.throwIfAborted()
  }
}

/** Others may append anything, anywhere: what is not sound is nobody's key. */
function keptIn (stored: StoredEvent): KeptKey[] {
  const person = personIn(stored.stream)
  const { event } = tryDecode(stored)
  if (person === undefined || !event) return []
  if (event.type === 'PersonKeyErased') return [{ person, keyId: event.data.key_id, wrapped: undefined }]
  return [keyMadeBy(stored) ?? []].flat()
}
