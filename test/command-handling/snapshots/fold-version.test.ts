// A snapshot is used as long as the fold is the same: a change of what events add up to, such as a new setting, raises
// `foldVersion`.
import { createHash } from 'node:crypto'
import t from 'tap'
import { assistantDecider } from '../../../src/domain/assistant/decide.js'
import { assistantEventTypes, type AssistantEvent } from '../../../src/domain/assistant/events.js'
import { decode } from '../../../src/domain/events.js'
import { fold } from '../../../src/domain/decider.js'
import { settings } from '../../support/events/call-events.js'

/** What these events added up to under each version; a new version has a new line here. */
const known: Readonly<Record<number, string>> = {
  1: 'd8ea5a2e7f8258ee'
}

const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
const ids = { assistant_id: 7, user_id: '1' }
/** As the log has them, one of each type, the first in its first version. */
const events: Array<{ type: AssistantEvent['type'], data: object }> = [
  { type: 'AssistantCreated', data: { ...ids, settings: { ...settings(), assistant_name: 'A' }, created_at: at(0) } },
  { type: 'AssistantUpdated', data: { ...ids, changes: { variables: { b: 1, a: 2 }, llm_temperature: 0.5 }, updated_at: at(1) } },
  { type: 'AssistantDeactivated', data: { ...ids, deactivated_at: at(3) } },
  { type: 'AssistantActivated', data: { ...ids, activated_at: at(2) } },
  { type: 'AssistantDeleted', data: { ...ids, deleted_at: at(4) } }
]

t.test('the same events add up to the same state, or the version of the fold is another', async (t) => {
  t.same(new Set(events.map(({ type }) => type)), new Set(assistantEventTypes))
  const states = events.map((_, index) => fold(assistantDecider, events.slice(0, index + 1).map(read)))
  const told = states.map((state) => {
    const { assistant_name, variables, llm_temperature, ...others } = state?.settings ?? {}
    return { ...state, settings: { assistant_name, variables, llm_temperature, others: Object.keys(others).sort() } }
  })
  const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16)
  t.equal(hash, known[assistantDecider.foldVersion ?? 0])
})

function read ({ type, data }: { type: string, data: object }, index: number): AssistantEvent {
  const event = decode({ type, data, metadata: {}, stream: 'assistant-7', revision: BigInt(index) })
  const isOwn = (found: { type: string } | undefined): found is AssistantEvent =>
    assistantEventTypes.some((known) => known === found?.type)
  if (!isOwn(event)) throw new Error(`${type} is not an event of an assistant`)
  return event
}
