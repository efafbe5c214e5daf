// The time of a change never goes back, though the clock of the process that wrote it does.
import t from 'tap'
import { evolve } from '../../src/features/assistants/model.js'
import type { AssistantEvent } from '../../src/features/assistants/events.js'
import { laterOf } from '../../src/domain/decider.js'
import { settings } from '../support/events/call-events.js'

t.test('of two instants the later one counts, whatever their offsets are', async (t) => {
  const [noon, one] = ['2026-01-31T12:00:00.000Z', '2026-01-31T12:30:00.000+01:00']
  t.equal(laterOf(noon, one), noon)
  t.equal(laterOf(one, noon), noon)
})

t.test('an assistant was changed last at the latest of its times', async (t) => {
  const owned = { assistant_id: 7, user_id: '1' }
  const changedAt = (updated_at: string): AssistantEvent =>
    ({ type: 'AssistantUpdated', data: { ...owned, changes: { record_call: true }, updated_at } })
  const created = evolve(undefined, {
    type: 'AssistantCreated',
    data: { ...owned, settings: settings(), created_at: '2026-01-31T12:00:00.000Z', status: 'active' }
  })
  const behind = evolve(created, changedAt('2026-01-31T11:59:59.999Z'))
  t.match(behind, { settings: { record_call: true }, updated_at: '2026-01-31T12:00:00.000Z' })
  t.match(evolve(behind, changedAt('2026-01-31T12:00:00.001Z')), { updated_at: '2026-01-31T12:00:00.001Z' })
})
