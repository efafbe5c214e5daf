// Commands of the tests, and a handler that stands for one process.
import { randomUUID } from 'node:crypto'
import type { ImportTools } from '../../../src/cli/catalog.js'
import { commandHandler, type HandleCommand } from '../../../src/commands/handle.js'
import { PhoneClaims, phoneHash } from '../../../src/commands/phone-numbers.js'
import { keyBytes } from '../../../src/services/complete-config.js'
import { assistantDecider, type AssistantCommand, type AssistantState } from '../../../src/features/assistants/model.js'
import { assistantStream } from '../../../src/features/assistants/events.js'
import {
  validateChanges, validateNewAssistant, type AssistantBody, type UpdateAssistantBody
} from '../../../src/features/assistants/validate.js'
import { leadDecider, validateLead } from '../../../src/features/leads/decide.js'
import type { LeadState } from '../../../src/features/leads/model.js'
import { leadStream } from '../../../src/features/leads/events.js'
import type { Streams } from '../../../src/log/event-log.js'
import { secrets } from '../auth/secrets.js'
import { requiredFields } from '../bodies/bodies.js'

const circumstances = { userId: '1', now: '2026-01-31T12:00:00.000Z' }
const originOf = (commandId: string, userId = '1') => ({ commandId, userId, correlationId: 'correlation-1' })

export const handleOn = (streams: Streams): HandleCommand => commandHandler(streams)

/** Imports a catalogue with the LEAD_DIGEST_KEY of the tests. */
export function importingOn (streams: Streams): ImportTools {
  const handle = handleOn(streams)
  return { handle, claims: new PhoneClaims(handle, phoneHash(keyBytes(secrets.LEAD_DIGEST_KEY))) }
}

/** The same streams, but records from which revisions a handler reads and how often it appends. */
export function watched (streams: Streams): { observed: Streams, reads: bigint[], appends: () => number } {
  const reads: bigint[] = []
  let appends = 0
  const observed: Streams = {
    ...streams,
    visit: async (stream, fromRevision, ...rest) => {
      reads.push(fromRevision)
      return await streams.visit(stream, fromRevision, ...rest)
    },
    append: async (stream, events, expected) => {
      appends += 1
      return await streams.append(stream, events, expected)
    }
  }
  return { observed, reads, appends: () => appends }
}

const assistantRequest = (
  assistantId: number, command: () => AssistantCommand, commandId: string, userId?: string
) => ({
  aggregate: assistantDecider,
  stream: assistantStream(assistantId),
  decide: (state: AssistantState) => assistantDecider.decide(command(), state),
  origin: originOf(commandId, userId)
})

export const createRequest = (id: number, body: AssistantBody = {}, commandId: string = randomUUID()) => ({
  ...assistantRequest(id, () => ({
    ...validateNewAssistant({ body: { ...requiredFields, ...body } }, {}), ...circumstances, ids: [id]
  }), commandId),
  isNew: true
})

export const updateRequest = (id: number, body: UpdateAssistantBody, commandId: string = randomUUID(), userId = '1') => ({
  ...assistantRequest(id, () => ({ ...validateChanges({ body }, {}), ...circumstances, userId }), commandId, userId),
  isForOwner: true
})

/** `contact` stands for the phone number's hash. */
export const leadRequest = (
  id: number, contact: string, allow_dupplicate = false, commandId: string = randomUUID()
) => {
  const body = { phone_number: '+15551230001', campaign_id: 1, allow_dupplicate }
  const command = { ...validateLead({ body }, {}), ...circumstances, ids: [id] }
  return {
    aggregate: leadDecider,
    stream: leadStream(1, contact),
    decide: (state: LeadState) => leadDecider.decide(command, state),
    origin: originOf(commandId),
    isNew: true
  }
}
