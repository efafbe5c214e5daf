// The table of calls.
import type { CallSummary, KeptReport } from '../../src/features/calls/model.js'
import { table } from '../folding/table.js'

/** `user_id` is null while the assistant is unknown, `lead_id` where the lead is not the same user's. */
export interface CallRow {
  id: string
  user_id: string | null
  assistant_id: number
  lead_id: number | null
  status: string
  direction: string
  /** Of the person: the called number of an outbound call. Null where the engine gave no number in E.164. */
  phone_number: string | null
  /** That the lead was created in. */
  campaign_id: number | null
  ended_at: string
  /** When it was recorded, or its person erased: nothing else changes a call. */
  updated_at: string
  summary: CallSummary
  report: KeptReport
  position: string
  /**
   * Its person was erased before it was reported, or read, or no reader knows its assistant: the row has nothing of
   * them, the log has for a moment. Or a second report, which the log alone has, names them.
   */
  is_to_erase: boolean
  /** The log has another report of it, with a number or lead that the row does not show. */
  names_others: boolean
}

export const callTable = table<CallRow>({
  name: 'calls',
  key: 'id',
  isMostlyNew: true,
  columns: {
    id: 'text',
    user_id: 'text',
    assistant_id: 'bigint',
    lead_id: 'bigint',
    status: 'text',
    direction: 'text',
    phone_number: 'text',
    campaign_id: 'bigint',
    ended_at: 'timestamptz',
    updated_at: 'timestamptz',
    summary: 'json',
    report: 'json',
    position: 'bigint',
    is_to_erase: 'boolean',
    names_others: 'boolean'
  },
  indexes: [
    '(user_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, assistant_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, lead_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE lead_id IS NOT NULL',
    '(user_id, campaign_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE campaign_id IS NOT NULL',
    '(user_id, phone_number COLLATE "C") WHERE phone_number IS NOT NULL',
    '(user_id, updated_at)',
    '(user_id, id COLLATE "C") WHERE is_to_erase',
    '(user_id) WHERE names_others'
  ]
})
