// Finds out whose assistant and whose lead a reported call names.
import { assistantStream } from '../domain/assistant/events.js'
import { tryDecode } from '../domain/events.js'
import type { Streams } from '../event-store/streams.js'

export interface CallOwners {
  /** The user id; nothing when there is no such assistant. */
  ofAssistant (assistantId: number): Promise<string | undefined>
  /** The user id; nothing when there is no such lead or secondary contact. @throws NotKnownYet */
  ofLead (leadId: number): Promise<string | undefined>
}

export interface CallOwnersOptions {
  streams: Pick<Streams, 'read'>
  /** Nothing when the log has no such lead. @throws NotKnownYet */
  leadOwner (leadId: number): Promise<string | undefined>
}

/** An assistant is read from its own stream, so that a call may follow its assistant at once. */
export function callOwners ({ streams, leadOwner }: CallOwnersOptions): CallOwners {
  return {
    async ofAssistant (assistantId) {
      const [stored] = await streams.read(assistantStream(assistantId), 0n, 1)
      const { event } = stored ? tryDecode(stored) : {} // anybody can append anything to the log
      return event?.type === 'AssistantCreated' ? event.data.user_id : undefined
    },
    ofLead: leadOwner
  }
}
