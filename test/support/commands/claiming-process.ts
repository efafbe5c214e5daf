// What stands for a process that adds phone numbers: its reads and appends come when a test lets them.
import { randomUUID } from 'node:crypto'
import { commandHandler } from '../../../src/commands/handle-command.js'
import { phoneClaims, type Claimant } from '../../../src/commands/phone-claims.js'
import { phoneHash } from '../../../src/commands/phone-hash.js'
import { phoneNumberDecider, type NumberState } from '../../../src/features/phone-numbers/model.js'
import { phoneNumberStream } from '../../../src/features/phone-numbers/events.js'
import { Rejection } from '../../../src/domain/rejection.js'
import type { Streams } from '../../../src/log/event-log.js'

export const digest = phoneHash(Buffer.alloc(32, 1))

export class Killed extends Error {}

/** What stands for a process: what it asks of the log waits for its turn, and fails for ever once it was killed. */
export function claimingProcess (streams: Streams, turn: (doing: string) => Promise<void> = async () => {}) {
  const taking: Streams = {
    ...streams,
    async visit (...args) {
      await turn('read')
      return await streams.visit(...args)
    },
    async append (stream, events, expected) {
      await turn(`append ${stream.split('-')[0]}`)
      const appended = await streams.append(stream, events, expected)
      await turn('appended')
      return appended
    }
  }
  const { handle } = commandHandler(taking)
  const claims = phoneClaims(handle, digest)
  /** As the route does it: claim, then add. True when the number was added. */
  async function add (claimant: Claimant, commandId: string = randomUUID(), isRetry = false): Promise<boolean> {
    const { phone_number, phone_number_id, user_id: userId } = claimant
    const origin = { commandId, correlationId: 'c', userId, isRetry }
    const command = { type: 'add' as const, phone_number, ids: [phone_number_id], userId, now: new Date().toISOString() }
    try {
      await claims.claim(claimant, origin)
      await handle({
        aggregate: phoneNumberDecider,
        stream: phoneNumberStream(phone_number_id),
        decide: (state: NumberState) => phoneNumberDecider.decide(command, state),
        origin
      })
      return true
    } catch (error) {
      if (error instanceof Rejection) return false
      throw error
    }
  }
  return { add, claims }
}
