// Who gets a phone number, decided by the stream of its holder. A claim comes before the number, so by itself it proves
// nothing: it holds while its number is there, and before that only as long as nobody else wants it.
import { randomUUID } from 'node:crypto'
import type { Decider } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import {
  endedClaimDecider, holderDecider, numberTaken, phoneNumberDecider, type Holder, type HolderCommand,
  type HolderState
} from '../features/phone-numbers/model.js'
import { phoneHolderStream, phoneNumberStream } from '../features/phone-numbers/events.js'
import type { Origin, HandleCommand } from './handle.js'
import type { PhoneHash } from './phone-hash.js'

/** Who wants a number, under the id of the number to be added. */
export interface Claimant extends Holder {
  phone_number: string
}

type Cause = Pick<Origin, 'correlationId' | 'userId' | 'isRetry'>

export class PhoneClaims {
  constructor (private readonly handle: HandleCommand, private readonly digest: PhoneHash) {}

  /**
   * Returns when the number is the claimant's to add. A claim of others that is over, by a release or because its
   * number was never added, is taken over.
   * @throws Rejection `invalid` when somebody holds it; StreamBusy and the errors of `Streams`
   */
  async claim (claimant: Claimant, cause: Cause): Promise<void> {
    if (cause.isRetry && await this.#isBegun(claimant, cause)) return // its stream says how far an earlier try came
    const { phone_number, phone_number_id, user_id } = claimant
    const ended = new Set<number>()
    for (;;) {
      const holder = await this.#atHolder(phone_number, { type: 'claim', phone_number_id, user_id, ended }, cause)
      if (!holder) throw new Error('a claim left a phone number without a holder')
      if (holder.phone_number_id === phone_number_id && holder.user_id === user_id) return
      if (!await this.#isOver(holder, phone_number, cause)) throw numberTaken()
      ended.add(holder.phone_number_id)
    }
  }

  /** Whether the user has the number now, as the log says: no read model is waited for. */
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

  async #isBegun ({ phone_number_id }: Claimant, cause: Cause): Promise<boolean> {
    return await this.#look(phoneNumberDecider, phoneNumberStream(phone_number_id), cause) !== undefined
  }

  async #look<State, Event extends DomainEvent> (
    aggregate: Decider<State, Event, never>, stream: string, cause: Cause
  ): Promise<State> {
    return (await this.handle({ aggregate, stream, decide: () => [], origin: originOf(cause) })).state
  }

  /** Where the number was not added yet, it never will be after this: the first event of its stream decides. */
  async #isOver ({ phone_number_id, user_id }: Holder, phoneNumber: string, cause: Cause): Promise<boolean> {
    const command = { phone_number_id, user_id, now: new Date().toISOString() }
    const state = await this.#run(endedClaimDecider, phoneNumberStream(phone_number_id), command, cause)
    return state?.user_id !== user_id || state.phone_number !== phoneNumber || state.isReleased === true
  }

  /** Safe to run again: what is decided follows from the state, and not from the id of a command. */
  async #run<State, Event extends DomainEvent, Command> (
    decider: Decider<State, Event, Command>, stream: string, command: Command, cause: Cause
  ): Promise<State> {
    const decide = (state: State) => decider.decide(command, state)
    return (await this.handle({ aggregate: decider, stream, decide, origin: originOf(cause) })).state
  }
}

const originOf = ({ correlationId, userId }: Cause): Origin => ({ commandId: randomUUID(), correlationId, userId })
