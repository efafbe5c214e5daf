// Brings a phone number of a catalogue into the log: claimed first, then added, as a user does it.
import { randomUUID } from 'node:crypto'
import type { HandleCommand } from '../../commands/handle-command.js'
import type { PhoneClaims } from '../../commands/phone-claims.js'
import { importedNumberDecider, type ImportNumber, type NumberState } from '../../features/phone-numbers/decide.js'
import { phoneNumberStream } from '../../features/phone-numbers/events.js'
import { Rejection } from '../../domain/rejection.js'

export interface ImportTools {
  handle: HandleCommand
  claims: PhoneClaims
}

/**
 * What the log has under this id stays, also where its user released it since, or where another had the number first.
 * @returns the position that the number is complete at
 * @throws Rejection when the id is not this number of this user, or somebody else holds the number
 */
export async function importNumber ({ handle, claims }: ImportTools, wanted: ImportNumber): Promise<bigint> {
  const cause = { correlationId: randomUUID() }
  const present = await ask((state) => {
    if (state) importedNumberDecider.decide(wanted, state)
    return []
  })
  if (present.state) return present.position
  await claims.claim(wanted, cause).catch((error: unknown) => {
    throw error instanceof Rejection ? heldByAnother(wanted) : error
  })
  return (await ask((state) => importedNumberDecider.decide(wanted, state))).position

  async function ask (decide: (state: NumberState) => ReturnType<typeof importedNumberDecider.decide>) {
    const origin = { commandId: randomUUID(), ...cause }
    const stream = phoneNumberStream(wanted.phone_number_id)
    return await handle({ aggregate: importedNumberDecider, stream, decide, origin })
  }
}

function heldByAnother ({ phone_number_id, phone_number }: ImportNumber): Rejection {
  return new Rejection(
    'catalog-conflict', `phone number ${phone_number_id} is ${phone_number}, which is held under another id: leave it out`)
}
