// The rules for completing a call: it is reported once, and the same report again changes nothing.
import Value from 'typebox/value'
import type { Decider } from '../decider.js'
import { Rejection } from '../rejection.js'
import type { CallCompleted, CallEvent } from './events.js'
import { evolve, type CallState } from './evolve.js'

export interface CompleteCall { report: CallCompleted }

/** Larger ones would not fit with type and metadata into the 1 MiB that a server takes. */
const largestEvent = 1024 * 1024 - 4 * 1024

export const callDecider: Decider<CallState, CallEvent, CompleteCall> = {
  initialState: undefined,
  eventTypes: ['CallCompleted'],
  isWrittenOnce: true,
  largestEvent,
  evolve,
  decide: completeCall
}

function completeCall ({ report }: CompleteCall, state: CallState): CallEvent[] {
  if (state === undefined) return [{ type: 'CallCompleted', data: report }]
  if (Value.Equal(state, report)) return []
  throw new Rejection('call-differs', `Call ${report.call_id} was already reported with another body`)
}
