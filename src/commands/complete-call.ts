// POST /engine/calls/{call_id}/completed
import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import { callDecider } from '../domain/call/decide.js'
import { CompleteCallBody, callStream, isCallId } from '../domain/call/events.js'
import { DecodeError } from '../domain/events.js'
import { Rejection } from '../domain/rejection.js'
import { Message, type App } from '../http/app-types.js'
import { only } from '../http/auth.js'
import { answered, example, invalid, refusal } from '../http/docs/describe.js'
import { callId, completedCall } from '../http/docs/examples.js'
import { received, type Received } from '../http/received.js'
import type { HandleCommand } from '../command-handling/handle-command.js'
import type { CallOwners } from '../command-handling/call-owners.js'
import { factsFor } from './facts.js'

export interface CallDeps {
  handle: HandleCommand
  owners: CallOwners
}

const accepted = 'Call accepted'

const schema = {
  operationId: 'completeCall',
  summary: 'Report a completed call',
  description: 'The same report again is accepted again; another report for the same call is refused.',
  tags: ['engine'],
  security: [{ bearer: [] }],
  params: Type.Object({ call_id: Type.String({ description: 'The call, as the engine names it: 1 to 128 letters, digits, dots, underscores, tildes or hyphens.', examples: [callId] }) }),
  body: example(CompleteCallBody, completedCall),
  response: {
    202: answered('The call is recorded; its webhook follows.', Message, { message: accepted }, ['X-Read-Position', 'X-Ignored-Fields']),
    403: refusal('This needs a token with the role engine.'),
    409: refusal(`Call ${callId} was already reported with another body`),
    422: invalid({ assistant_id: ['must be an existing assistant'], 'transcript.0.role': ['must be one of: assistant, customer, tool'] })
  }
}

const bodyLimit = 1024 * 1024
/** Leaves room for `call_id`, the event's type and its metadata under the store's 1 MiB. */
const largestEvent = bodyLimit - 4 * 1024

export function completeCall (app: App, deps: CallDeps): void {
  const config = { failure: 'Call completion failed' }
  app.post('/engine/calls/:call_id/completed', { schema, config, bodyLimit, attachValidation: true, onRequest: only('engine') }, async (request, reply) => {
    const callId = callIdOf(request.params.call_id)
    const input = received(request, reply, CompleteCallBody)
    const { position } = await refuseUnreadable(callId, deps.handle({
      decider: callDecider,
      stream: callStream(callId),
      onlyTypes: ['CallCompleted'],
      command: { callId, ...input, facts: await factsFor(input.refused, lookUpFacts(deps, input), { assistantExists: true, leadBelongs: true }) },
      commandId: randomUUID(),
      correlationId: request.id,
      isNew: true,
      largestEvent
    }))
    return await reply.code(202).header('x-read-position', String(position)).send({ message: accepted })
  })
}

/** @throws Rejection when the path holds no call id */
function callIdOf (text: string): string {
  if (isCallId(text)) return text
  throw new Rejection('invalid', 'The given data was invalid.', { call_id: ['must be 1 to 128 letters, digits, dots, underscores, tildes or hyphens'] })
}

/** An event that stands in the call's stream and cannot be read is no report that this one could be the same as. */
async function refuseUnreadable<Outcome> (callId: string, handling: Promise<Outcome>): Promise<Outcome> {
  try {
    return await handling
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new Rejection('call-differs', `Call ${callId} is in the log already, by an event that is malformed`)
  }
}

/** Fields that the schema refused are not asked about. */
async function lookUpFacts ({ owners }: CallDeps, { body, refused }: Received<CompleteCallBody>): Promise<{ assistantExists: boolean, leadBelongs: boolean }> {
  const owner = body.assistant_id === undefined || refused.assistant_id ? undefined : await owners.ofAssistant(body.assistant_id)
  const leadOwner = body.lead_id == null || refused.lead_id ? undefined : await owners.ofLead(body.lead_id)
  return { assistantExists: owner !== undefined, leadBelongs: owner !== undefined && leadOwner === owner }
}
