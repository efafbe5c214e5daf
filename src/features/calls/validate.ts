// What is wrong with the report of a call, without regard to earlier reports.
import { problem, soundBody, soundFields, type Submitted } from '../../domain/validation.js'
import type { CallCompleted, CompleteCallBody } from './events.js'

/** What is true outside the stream. An absent fact is not known, and refuses nothing. */
export interface CallFacts {
  assistantExists?: boolean
  /** Whether the lead is one of the user who owns the assistant. */
  leadBelongs?: boolean
}

/** The report without unknown fields. @throws Rejection `invalid` with every problem */
export function validateReport (
  callId: string, submitted: Submitted<CompleteCallBody>, facts: CallFacts
): { report: CallCompleted } {
  const { started_at: began, ended_at: ended } = soundFields(submitted)
  const isReversed = began !== undefined && ended !== undefined && Date.parse(ended) < Date.parse(began)
  const { lead_status, transcript, ...body } = soundBody(submitted, [
    isReversed && problem('ended_at', 'must not be before started_at'),
    facts.assistantExists === false && problem('assistant_id', 'must be an existing assistant'),
    facts.leadBelongs === false && problem('lead_id', 'must be a lead of the user who owns the assistant')
  ])
  const { assistant_id, lead_id, status, direction, from, to, started_at, ended_at, duration } = body
  const { recording_url, input_variables, extracted_variables, evaluation } = body
  const report = {
    call_id: callId,
    assistant_id,
    lead_id,
    ...(lead_status !== undefined && { lead_status }),
    status,
    direction,
    from,
    to,
    started_at,
    ended_at,
    duration,
    recording_url,
    transcript: transcript.map(({ role, text, at }) => ({ role, text, at })),
    input_variables,
    extracted_variables,
    evaluation
  }
  return { report }
}
