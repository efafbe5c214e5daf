// Asks for something about a person as the routes do: first it is noted for the workers, then its event is appended.
import { randomUUID } from 'node:crypto'
import { commandHandler } from '../../commands/handle-command.js'
import { phoneClaims } from '../../commands/phone-claims.js'
import { holdToLeadDigestKey, type PhoneHash } from '../../commands/phone-hash.js'
import { personRequestDecider } from '../../features/persons/decide.js'
import { personRequestStream, type PersonRequestType } from '../../features/persons/events.js'
import type { Streams } from '../../log/streams.js'
import type { NamedPerson } from './named.js'

interface Asked {
  kind: PersonRequestType
  person: NamedPerson
  digest: PhoneHash
  /** @throws where no more is taken */
  note (id: string): Promise<void>
  /** Takes back what was noted, as there is no event of it. */
  drop (id: string): Promise<void>
}

/** @throws Error for a number that is no person, what `note` throws, and the errors of an append */
export async function appendRequest (
  streams: Streams, { kind, person: { userId, phoneNumber }, digest, note, drop }: Asked
): Promise<{ id: string, position: bigint }> {
  const id = randomUUID()
  await holdToLeadDigestKey(streams, digest)
  const { handle } = commandHandler(streams)
  if (await phoneClaims(handle, digest).isOwn(userId, phoneNumber, { correlationId: id })) {
    throw new Error(`<phone> is one of the phone numbers of user ${userId}, and no person`)
  }
  await note(id)
  const now = new Date().toISOString()
  const command = { type: 'request', kind, userId, number_digest: digest(phoneNumber), commandId: id, now } as const
  const { position } = await handle({
    aggregate: personRequestDecider,
    stream: personRequestStream(id),
    decide: (state) => personRequestDecider.decide(command, state),
    origin: { commandId: id, correlationId: id }
  }).catch(async (error: unknown) => {
    await drop(id)
    throw error
  })
  return { id, position }
}
