// What a stored event says, and whether it may be believed: anybody can append anything anywhere.
import { assistantStream } from '../src/domain/assistant/events.js'
import { callIdOf, callStream } from '../src/domain/call/events.js'
import { catalogStreams } from '../src/domain/catalog/events.js'
import { DecodeError, decode, type DomainEvent } from '../src/domain/events.js'
import type { StoredEvent } from '../src/domain/stored-event.js'

export interface ReadEvent {
  stored: StoredEvent
  event?: DomainEvent
  /** The call that a CallCompleted is about, told by its stream: there also when the event is malformed. */
  callId?: string
  /** Why the event is malformed. */
  problem?: string
}

export function readEvent (stored: StoredEvent): ReadEvent {
  const callId = stored.type === 'CallCompleted' ? callIdOf(stored.stream) : undefined
  const call = callId === undefined ? {} : { callId }
  try {
    const event = decode(stored)
    if (event) refuseMisplaced(event, stored.stream)
    return { stored, ...call, ...(event && { event }) }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { stored, ...call, problem: error.message }
  }
}

/** An event counts only on the stream of what it names, and only when its texts can be stored. @throws DecodeError */
function refuseMisplaced (event: DomainEvent, stream: string): void {
  const { type, data } = event
  if (!isAtHome(event, stream)) throw new DecodeError(`${type} does not belong on the stream ${stream}`)
  if ('user_id' in data && data.user_id.includes('\0')) throw new DecodeError(`${type} on ${stream} has a user_id with a NUL character`)
}

function isAtHome ({ type, data }: DomainEvent, stream: string): boolean {
  switch (type) {
    case 'AssistantCreated':
    case 'AssistantUpdated': return stream === assistantStream(data.assistant_id)
    case 'LeadCreated': return stream.startsWith(`lead-${data.campaign_id}-`)
    case 'CallCompleted': return stream === callStream(data.call_id)
    case 'CampaignCreated':
    case 'CampaignRenamed': return stream === catalogStreams.campaign(data.campaign_id)
    default: return true
  }
}
