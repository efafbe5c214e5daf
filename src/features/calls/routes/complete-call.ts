// POST /engine/calls/{call_id}/completed
import Type from 'typebox'
import type { CallOwners } from '../../../commands/call-owners.js'
import { callDecider } from '../decide.js'
import { CompleteCallBody, callStream, isCallId } from '../events.js'
import { validateReport, type CallFacts } from '../validate.js'
import { DecodeError } from '../../../domain/events.js'
import { Rejection, invalid as refused } from '../../../domain/rejection.js'
import { Message, type App } from '../../../http/app-types.js'
import { command, type HandleRoute } from '../../../http/command-route.js'
import { answered, example, invalid, refusal } from '../../../http/docs/describe.js'
import { callId, completedCall } from '../../../http/docs/examples.js'

export interface CallDeps {
  handle: HandleRoute
  owners: CallOwners
}

const accepted = 'Call accepted'

const schema = {
  operationId: 'completeCall',
  summary: 'Report a completed call',
  description: 'The same report again is accepted again; another report for the same call is refused.',
  tags: ['engine'],
  security: [{ bearer: [] }],
  params: Type.Object({
    call_id: Type.String({
      description: 'The call, as the engine names it: 1 to 128 letters, digits, dots, underscores, tildes or hyphens.',
      examples: [callId]
    })
  }),
  body: example(CompleteCallBody, completedCall),
  response: {
    202: answered(
      'The call is recorded; its webhook follows.',
      Message, { message: accepted }, ['X-Read-Position', 'X-Ignored-Fields']
    ),
    403: refusal('This needs a token with the role engine.'),
    409: refusal(`Call ${callId} was already reported with another body`),
    422: invalid({
      assistant_id: ['must be an existing assistant'],
      'transcript.0.role': ['must be one of: assistant, customer, tool']
    })
  }
}

const bodyLimit = 1024 * 1024

/** A transcript has four for each turn. */
const mostValues = 50_000

export function completeCall (app: App, { handle, owners }: CallDeps): void {
  const { config, ...options } = command('engine', 'Call completion failed')
  const budget = { bodyLimit, config: { ...config, mostValues } }
  app.post('/engine/calls/:call_id/completed', { schema, ...options, ...budget }, async (request, reply) => {
    const callId = callIdIn(request.params.call_id)
    return await refuseUnreadable(callId, handle(request, reply.code(202), {
      body: CompleteCallBody,
      facts: (report) => lookUpFacts(owners, report),
      validate: (report, facts) => validateReport(callId, report, facts),
      stream: () => callStream(callId),
      ofUser: ({ owner }) => owner,
      isNew: true,
      decider: callDecider,
      answer: () => ({ message: accepted })
    }))
  })
}

/** `owner` has the assistant, and so knows the person. */
interface OwnedCallFacts extends CallFacts { owner?: string }

/** @throws Rejection when the path holds no call id */
function callIdIn (text: string): string {
  if (isCallId(text)) return text
  throw refused({ call_id: ['must be 1 to 128 letters, digits, dots, underscores, tildes or hyphens'] })
}

/** An event in the stream of the call that cannot be read: this report cannot be compared with it. */
async function refuseUnreadable<Answer> (callId: string, handling: Promise<Answer>): Promise<Answer> {
  try {
    return await handling
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new Rejection('call-differs', `Call ${callId} is in the log already, by an event that is malformed`)
  }
}

async function lookUpFacts (owners: CallOwners, report: Partial<CompleteCallBody>): Promise<OwnedCallFacts> {
  const { assistant_id, lead_id } = report
  if (assistant_id === undefined) return {}
  const owner = await owners.ofAssistant(assistant_id)
  if (owner === undefined) return { assistantExists: false }
  return lead_id == null ? { owner } : { owner, leadBelongs: await owners.ofLead(lead_id) === owner }
}
