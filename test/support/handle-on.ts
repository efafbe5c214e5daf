// Commands as the tests send them, to a handler that stands for one process.
import { randomUUID } from 'node:crypto'
import { assistantDecider, type AssistantCommand } from '../../src/domain/assistant/decide.js'
import { assistantStream } from '../../src/domain/assistant/events.js'
import type { AssistantBody } from '../../src/domain/assistant/settings.js'
import { leadDecider } from '../../src/domain/lead/decide.js'
import { leadStream } from '../../src/domain/lead/events.js'
import type { Streams } from '../../src/event-store/streams.js'
import { commandHandler, type HandleCommand } from '../../src/command-handling/handle-command.js'
import { requiredFields } from './assistant-bodies.js'

const facts = { voiceExists: true, languageExists: true, ownsPhoneNumber: true }
const now = '2026-01-31T12:00:00.000Z'

/** What one process handles its commands with. */
export const handleOn = (streams: Streams): HandleCommand => commandHandler(streams).handle

const assistantRequest = (type: AssistantCommand['type'], assistantId: number, body: AssistantBody, commandId: string) => ({
  decider: assistantDecider,
  stream: assistantStream(assistantId),
  command: { type, assistantId, userId: '1', body, refused: {}, facts, now },
  commandId,
  userId: '1',
  correlationId: 'correlation-1'
})

export const createRequest = (assistantId: number, body: AssistantBody = {}, commandId: string = randomUUID()) =>
  ({ ...assistantRequest('create', assistantId, { ...requiredFields, ...body }, commandId), isNew: true })

export const updateRequest = (assistantId: number, body: AssistantBody, commandId: string = randomUUID()) =>
  assistantRequest('update', assistantId, body, commandId)

/** `contact` stands for the phone number's digest. */
export const leadRequest = (id: number, contact: string, allow_dupplicate = false, commandId: string = randomUUID()) => ({
  decider: leadDecider,
  stream: leadStream(1, contact),
  command: { ids: [id], userId: '1', body: { phone_number: '+15551230001', campaign_id: 1, allow_dupplicate }, refused: {}, facts: { ownsCampaign: true }, now },
  commandId,
  userId: '1',
  correlationId: 'correlation-1',
  isNew: true
})
