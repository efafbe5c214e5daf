// Asks for something about a person as the routes do: first it is noted for the workers, then its event is appended.
import { randomUUID } from 'node:crypto'
import { commandHandler } from '../../command-handling/handle-command.js'
import { personRequestDecider } from '../../domain/person/decide.js'
import { personRequestStream, type PersonRequestType } from '../../domain/person/events.js'
import type { Streams } from '../../event-store/streams.js'

interface Asked {
  kind: PersonRequestType
  userId: string
  number_digest: string
  /** @throws where no more is taken */
  note (id: string): Promise<void>
  /** Takes back what was noted, as there is no event of it. */
  drop (id: string): Promise<void>
}

/** @throws what `note` throws, and the errors of an append */
export async function appendRequest (
  streams: Streams, { note, drop, ...asked }: Asked
): Promise<{ id: string, position: bigint }> {
  const id = randomUUID()
  await note(id)
  const command = { type: 'request', ...asked, commandId: id, now: new Date().toISOString() } as const
  const { position } = await commandHandler(streams).handle({
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
