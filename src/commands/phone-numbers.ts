// Phone numbers in commands: their digests in stream names, the do-not-call list, and who holds a number.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Decider, DomainEvent } from '../domain/events.js'
import { member } from '../domain/json.js'
import { blacklistStream } from '../features/blacklist/events.js'
import { blacklistDecider, isListed, type Listed } from '../features/blacklist/model.js'
import { settingsStream } from '../features/leads/events.js'
import { phoneHolderStream, phoneNumberStream } from '../features/phone-numbers/events.js'
import {
  endedClaimDecider, holderDecider, numberTaken, phoneNumberDecider, type Holder, type HolderCommand, type HolderState
} from '../features/phone-numbers/model.js'
import { RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import { foldStream, type Origin, type HandleCommand } from './handle.js'

export type PhoneHash = (phoneNumber: string) => string

/** HMAC-SHA256 of the number as accepted, cut to 32 hex digits. */
export const phoneHash = (key: Buffer): PhoneHash => (phoneNumber) =>
  createHmac('sha256', key).update(phoneNumber).digest('hex').slice(0, 32)

/** The log was written with another LEAD_DIGEST_KEY: with this one, duplicate leads would not be recognised. */
class OtherLeadDigestKey extends Error {
  override readonly name = 'OtherLeadDigestKey'
}

/** The first start appends a fingerprint of the key; later starts must match it. @throws OtherLeadDigestKey */
export async function holdToLeadDigestKey (streams: Streams, digest: PhoneHash): Promise<void> {
  const fingerprint = digest('LEAD_DIGEST_KEY')
  for (;;) {
    const [chosen] = await streams.read(settingsStream)
    if (chosen) {
      if (member(chosen.data, 'fingerprint') === fingerprint) return
      throw new OtherLeadDigestKey(
        'LEAD_DIGEST_KEY is not the key that this event log was started with: set the former one, it never changes')
    }
    try {
      const chosen = { type: 'LeadDigestKeyChosen', data: { fingerprint }, metadata: { schema_version: '1' } }
      await streams.append(settingsStream, [{ id: randomUUID(), ...chosen }], noStream)
      return
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      await delay(50) // another process starts at the same time: read what it wrote
    }
  }
}

export type Blacklists = ReturnType<typeof openBlacklists>

/** Reads the newest event of each number that may have an entry, in parallel: a lead has at most eleven numbers. */
export function openBlacklists (
  streams: Pick<Streams, 'last' | 'visit'>, digest: PhoneHash, noted: NotedEntries
) {
  /** The stream that says whether this user may have this number called. */
  const streamOf = (userId: string, phoneNumber: string) => blacklistStream(digest(userId), digest(phoneNumber))
  return {
    streamOf,
    note: noted.note,
    /** The listed ones. Sees every entry that was appended before the call. @throws EventStoreUnavailable */
    async listed (userId: string, phoneNumbers: readonly string[]): Promise<Listed> {
      const numbers = new Map(phoneNumbers.map((number) => [streamOf(userId, number), number]))
      const found = await Promise.all((await noted.mayHaveEntry([...numbers.keys()])).map(async (stream) =>
        await isListedIn(streams, stream) ? [numbers.get(stream) ?? ''] : []))
      return new Set(found.flat())
    }
  }
}

/** Usually the newest event is the entry. If not, folds all of the stream that can be read; few numbers need that. */
async function isListedIn (streams: Pick<Streams, 'last' | 'visit'>, stream: string): Promise<boolean> {
  const newest = await streams.last(stream)
  if (!newest) return false
  if (newest.type === 'PhoneNumberBlacklisted') return true
  return isListed((await foldStream(streams, { ...blacklistDecider, skipsUnreadable: true }, stream)).state)
}

interface NotedEntries {
  /** Await it before the event of an entry is appended to the stream. */
  note: (stream: string) => Promise<void>
  /** The streams that may have an entry. A stream that was noted before the call is always among them. */
  mayHaveEntry (streams: readonly string[]): Promise<string[]>
}

/** A user who wants a number; `phone_number_id` is the id of the number to be added. */
export interface Claimant extends Holder {
  phone_number: string
}

type Cause = Pick<Origin, 'correlationId' | 'userId' | 'isRetry'>

/**
 * Decides who gets a phone number, on the stream of its holder. The claim comes before the number, so alone it proves
 * nothing: it holds while its number exists, and before that only until another user wants the number.
 */
export class PhoneClaims {
  constructor (private readonly handle: HandleCommand, private readonly digest: PhoneHash) {}

  /**
   * Returns when the claimant may add the number. Takes over another user's claim if it is over, because its number was
   * released or never added.
   * @throws Rejection `invalid` when somebody holds it; StreamBusy and the errors of `Streams`
   */
  async claim (claimant: Claimant, cause: Cause): Promise<void> {
    const { phone_number, phone_number_id, user_id } = claimant
    const own = cause.isRetry && await this.#look(phoneNumberDecider, phoneNumberStream(phone_number_id), cause)
    if (own) return // its stream says how far an earlier try came
    const ended = new Set<number>()
    for (;;) {
      const holder = await this.#atHolder(phone_number, { type: 'claim', phone_number_id, user_id, ended }, cause)
      if (!holder) throw new Error('a claim left a phone number without a holder')
      if (holder.phone_number_id === phone_number_id && holder.user_id === user_id) return
      if (!await this.#isOver(holder, phone_number, cause)) throw numberTaken()
      ended.add(holder.phone_number_id)
    }
  }

  /** Whether the user has the number now. Asks the log, so it waits for no read model. */
  async isOwn (userId: string, phoneNumber: string, cause: Cause): Promise<boolean> {
    const holder = await this.#look(holderDecider, phoneHolderStream(this.digest(phoneNumber)), cause)
    if (holder?.user_id !== userId) return false
    const state = await this.#look(phoneNumberDecider, phoneNumberStream(holder.phone_number_id), cause)
    return state?.phone_number === phoneNumber && !state.isReleased
  }

  /** Gives the number back, if it is held under this id. @throws as `claim` */
  async free (
    { phone_number, phone_number_id }: Pick<Claimant, 'phone_number' | 'phone_number_id'>, cause: Cause
  ): Promise<void> {
    await this.#atHolder(phone_number, { type: 'free', phone_number_id }, cause)
  }

  async #atHolder (phoneNumber: string, command: HolderCommand, cause: Cause): Promise<HolderState> {
    return await this.#run(holderDecider, phoneHolderStream(this.digest(phoneNumber)), command, cause)
  }

  async #look<State, Event extends DomainEvent> (
    aggregate: Decider<State, Event, never>, stream: string, cause: Cause
  ): Promise<State> {
    return (await this.handle({ aggregate, stream, decide: () => [], origin: originOf(cause) })).state
  }

  /** If the number was not added yet, this ends the claim: the first event of the number's stream decides. */
  async #isOver ({ phone_number_id, user_id }: Holder, phoneNumber: string, cause: Cause): Promise<boolean> {
    const command = { phone_number_id, user_id, now: new Date().toISOString() }
    const state = await this.#run(endedClaimDecider, phoneNumberStream(phone_number_id), command, cause)
    return state?.user_id !== user_id || state.phone_number !== phoneNumber || state.isReleased === true
  }

  /** Safe to retry: the decision depends on the state, not on the command id. */
  async #run<State, Event extends DomainEvent, Command> (
    decider: Decider<State, Event, Command>, stream: string, command: Command, cause: Cause
  ): Promise<State> {
    const decide = (state: State) => decider.decide(command, state)
    return (await this.handle({ aggregate: decider, stream, decide, origin: originOf(cause) })).state
  }
}

const originOf = ({ correlationId, userId }: Cause): Origin => ({ commandId: randomUUID(), correlationId, userId })
