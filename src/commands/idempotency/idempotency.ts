// Safe retries: the same Idempotency-Key gives the same command, the same events and the same answer.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { DomainEvent } from '../../domain/events.js'
import { canonicalJson } from '../../domain/json.js'
import { Rejection, invalid } from '../../domain/rejection.js'
import { AppendTooLarge, EventStoreUnavailable } from '../../log/errors.js'
import { StreamBusy, type CommandRequest, type Outcome } from '../command-request.js'
import type { CommandHandler } from '../handle-command.js'
import { IdempotencyKeys, type KeyRow } from './keys.js'

/** What a request with a key is recognised by; without a key every request is a new command. */
export interface Claim {
  userId: string
  method: string
  route: string
  key: string | undefined
  /** With the path: another body under the same key is refused. */
  body: unknown
  path: string
}

/** What belongs to the key: a retry gets the same command id and the same ids. */
export interface Reserved {
  commandId: string
  ids: number[]
  /** An earlier request with this key may have got as far as the log. */
  isRetry: boolean
}

export interface Once<State> extends Outcome<State> {
  ids: number[]
  /** The answer was given before; it is rebuilt as it was then. */
  isReplay: boolean
}

/** Another request with the same key is being handled. */
export class KeyInFlight extends Error {
  override readonly name = 'KeyInFlight'
  constructor () {
    super('A request with this Idempotency-Key is being handled: try again in a moment.')
  }
}

type RequestFor<State, Event extends DomainEvent> = (reserved: Reserved) => CommandRequest<State, Event>

export class Idempotency {
  readonly #keys: IdempotencyKeys

  constructor (pool: Pool, private readonly commands: CommandHandler) {
    this.#keys = new IdempotencyKeys(pool)
  }

  /**
   * Handles the command once per key. A key whose command was refused, or certainly not written, is free again; one
   * whose outcome is not known, now or from an earlier try, is kept, and resolved by the next request with it.
   * @throws KeyInFlight, Rejection `invalid` for another body under the same key, and what handling throws
   */
  async once<State, Event extends DomainEvent> (
    claim: Claim, takeIds: () => Promise<number[]>, requestFor: RequestFor<State, Event>
  ): Promise<Once<State>> {
    const proposed = { commandId: randomUUID(), ids: await takeIds() }
    if (claim.key === undefined) {
      const outcome = await this.commands.handle(requestFor({ ...proposed, isRetry: false }))
      return { ...outcome, ids: proposed.ids, isReplay: false }
    }
    const row = await this.#claim(claim, claim.key, proposed)
    const ids = row.ids.map(Number)
    const isRetry = row.command_id !== proposed.commandId
    const request = requestFor({ commandId: row.command_id, ids, isRetry })
    if (row.is_committed) {
      return { ...await this.commands.stateAt(request, BigInt(row.revision ?? -1)), ids, isReplay: true }
    }
    if (!row.is_mine) throw new KeyInFlight()
    const outcome = await this.#handleUnder(row, request)
    return { ...outcome, ids, isReplay: outcome.wasHandled === true }
  }

  /** Removes keys older than 24 hours, in small batches. @returns how many */
  async removeExpired (): Promise<number> {
    return await this.#keys.removeExpired()
  }

  /** @throws Rejection `invalid` for another body under the same key, and where an erasure emptied the hash */
  async #claim (claim: Claim, key: string, proposed: { commandId: string, ids: number[] }): Promise<KeyRow> {
    const hash = hashOf(claim)
    const row = await this.#keys.claim([claim.userId, claim.method, claim.route, key], hash, proposed)
    if (row.request_hash.equals(hash)) return row
    throw row.request_hash.length === 0 ? erasedSince() : usedForAnother()
  }

  async #handleUnder<State, Event extends DomainEvent> (
    row: KeyRow, request: CommandRequest<State, Event>
  ): Promise<Outcome<State>> {
    try {
      const outcome = await this.commands.handle(request)
      // The events are in the log, with or without the commit: a retry finds them by the id of the command.
      await this.#keys.commit(row, request.stream, outcome.revision).catch(() => {})
      return outcome
    } catch (error) {
      const { first, origin: { isRetry } } = request
      const isFree = isRefusal(error) || (isUnwritten(error) && !isRetry && !first)
      await (isFree ? this.#keys.free(row) : this.#keys.endLease(row)).catch(() => {}) // then its lease runs out
      throw error
    }
  }
}

/** What the request was, path and body. */
export const hashOf = ({ path, body }: Claim) =>
  createHash('sha256').update(path).update('\0').update(canonicalJson(body) ?? '').digest()

/** The same key came with another path or body. */
export const usedForAnother = () => invalid({ 'Idempotency-Key': ['was used for another request'] })

const erasedSince = () =>
  invalid({ 'Idempotency-Key': ['was used for a request about a person who has been erased since'] })

/** The command itself was refused, after what an earlier try had written was read. */
const isRefusal = (error: unknown) => error instanceof Rejection || error instanceof AppendTooLarge

const isUnwritten = (error: unknown) => error instanceof EventStoreUnavailable || error instanceof StreamBusy
