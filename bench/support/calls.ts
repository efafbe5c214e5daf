// Calls that ended, as an engine reports them.
import type { CallCompleted } from '../../src/features/calls/events.js'
import { completedCall } from '../../src/http/docs/examples.js'
import type { Random } from './random.js'
import { transcript } from './speech.js'

export function endedCall (chance: Random, assistant_id: number): CallCompleted {
  const [startedAt, duration] = [Date.UTC(2026, 0, 31), chance.whole(10, 300)]
  return {
    ...completedCall,
    call_id: chance.uuid(),
    assistant_id,
    lead_id: null,
    started_at: new Date(startedAt).toISOString(),
    ended_at: new Date(startedAt + duration * 1_000).toISOString(),
    duration,
    transcript: transcript(chance),
    extracted_variables: { status: true, summary: 'The appointment stays as it is.' }
  }
}
