// The log of an installation of some size, and assistants that were changed very often.
import { currentVersion } from '../../src/domain/events.js'
import { history, type Happened } from '../log/history.js'
import { created, type Step, type User } from '../log/made-up.js'
import { assistantStream } from '../../src/features/assistants/events.js'
import { random, type Random } from '../support/random.js'

/** Of each length so many, so that each is read once by a process that does not know it. */
export const perLength = 3
/** Ids that the history does not reach. */
const firstId = 10_000_000

/** The n-th assistant with so many updates; of the first user. */
export const longAssistant = (lengths: readonly number[], updates: number, nth: number) =>
  firstId + lengths.indexOf(updates) * perLength + nth

export function * logOf (events: number, lengths: readonly number[]): Generator<Happened, void> {
  yield * history({ events, seed: 1 })
  const chance = random(5)
  const user: User = { id: '1', campaigns: [1, 2, 3], assistants: [1], leads: [] }
  const at = new Date(Date.UTC(2026, 5, 1))
  for (const updates of lengths) {
    for (let nth = 0; nth < perLength; nth++) {
      const id = longAssistant(lengths, updates, nth)
      let revision = 0
      for (const [stream, event] of changes(chance, user, id, updates, at.toISOString())) {
        const ids = { $correlationId: chance.uuid(), command_id: chance.uuid() }
        const metadata = { ...ids, schema_version: currentVersion(event.type) }
        yield { ...event, stream, revision: revision++, id: chance.uuid(), metadata, created: at.getTime() }
      }
    }
  }
}

function * changes (
  chance: Random, user: User, id: number, updates: number, updated_at: string
): Generator<Step, void> {
  yield created(chance, user, id, updated_at)
  for (let n = 0; n < updates; n++) {
    const changes = { llm_temperature: chance.whole(0, 10) / 10, initial_message: `Hello, this is ${chance.hex(8)}.` }
    const data = { assistant_id: id, user_id: user.id, changes, updated_at }
    yield [assistantStream(id), { type: 'AssistantUpdated', data }]
  }
}
