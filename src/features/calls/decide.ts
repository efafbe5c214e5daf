// The rules for calls: each is reported once, and the same report again changes nothing. What says who was called and
// what was said can be erased, once.
import Value from 'typebox/value'
import type { Decider } from '../../domain/decider.js'
import { Rejection } from '../../domain/rejection.js'
import type { CallErased } from './erased.js'
import { callEventTypes, type CallCompleted, type CallEvent } from './events.js'

/** Nothing yet, what the engine reported first, or what is left of it. */
type CallState = CallCompleted | CallErased | undefined

/** A later report of the same call is a duplicate, also of one that was erased. */
const evolve = (state: CallState, { type, data }: CallEvent): CallState =>
  type === 'CallErased' ? data : state ?? data

const isErased = (state: CallCompleted | CallErased): state is CallErased => 'erased_at' in state

export interface CompleteCall { report: CallCompleted }
/** `report` is the one that counts: what the stream has of it may not be readable any more. `left`: its lead. */
export interface EraseCall { report: Omit<CallErased, 'lead_left' | 'erased_at'>, left?: CallErased['lead_left'], now: string }

/** Larger ones would not fit with type and metadata into the 1 MiB that a server takes. */
const largestEvent = 1024 * 1024 - 4 * 1024

const calls = {
  initialState: undefined,
  eventTypes: callEventTypes,
  isWrittenOnce: true as const,
  largestEvent,
  evolve
}

export const callDecider: Decider<CallState, CallEvent, CompleteCall> = { ...calls, decide: completeCall }
export const erasingDecider: Decider<CallState, CallEvent, EraseCall> = { ...calls, decide: eraseCall }

function completeCall ({ report }: CompleteCall, state: CallState): CallEvent[] {
  if (state === undefined) return [{ type: 'CallCompleted', data: report }]
  if (isErased(state) ? isOfErased(report, state) : Value.Equal(state, report)) return []
  throw new Rejection('call-differs', `Call ${report.call_id} was already reported with another body`)
}

/** As far as anybody can tell: what was said, and who was called, is not known any more. */
function isOfErased (report: CallCompleted, { erased_at: _at, lead_left: _left, ...known }: CallErased): boolean {
  return Object.entries(known).every(([field, value]) => Value.Equal(Reflect.get(report, field), value))
}

function eraseCall ({ report, left: lead_left, now }: EraseCall, state: CallState): CallEvent[] {
  if (state && isErased(state)) return []
  const { call_id, assistant_id, lead_id, lead_status, status, direction, started_at, ended_at, duration } = report
  const told = lead_status === undefined ? {} : { lead_status }
  const left = { call_id, assistant_id, lead_id, ...told, status, direction, started_at, ended_at, duration }
  return [{ type: 'CallErased', data: { ...left, ...lead_left && { lead_left }, erased_at: now } }]
}
