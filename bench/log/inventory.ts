// Makes up the log of an installation with many assistants and leads, for the lists and reads of its users.
import { currentVersion } from '../../src/domain/events.js'
import { catalogue, newUser, type Happened } from './history.js'
import { created, lead, type Step, type User } from './made-up.js'
import { random, type Random } from '../support/random.js'

export interface Inventory { users: number, assistants: number, leads: number }

/** Whose log it is: each user has three campaigns, and an assistant of the same id. */
export const madeUp = (users: number) => ({
  count: users,
  campaignOf: (user: number) => user * 3 - 2,
  assistantOf: (user: number) => user
})

const begin = Date.UTC(2026, 0, 1)

/** The ids of users are `1` to `users`; the leads and assistants of each are as many. */
export function * inventory ({ users: count, assistants, leads }: Inventory): Generator<Happened, void> {
  const chance = random(1)
  const users = Array.from({ length: count }, (_, index) => newUser(index))
  const revisions = new Map<string, number>()
  let nth = 0
  for (const [stream, event] of steps(chance, users, { assistants, leads })) {
    const revision = revisions.get(stream) ?? 0
    if (!/^(lead|assistant)-/.test(stream)) revisions.set(stream, revision + 1) // one event a stream of those
    const metadata = { $correlationId: chance.uuid(), schema_version: currentVersion(event.type) }
    yield { ...event, stream, revision, id: chance.uuid(), metadata, created: begin + nth++ * 7_000 }
  }
}

function * steps (
  chance: Random, users: User[], { assistants, leads }: Omit<Inventory, 'users'>
): Generator<Step, void> {
  const at = new Date(begin).toISOString()
  yield * catalogue(chance, users, () => at)
  const ofUser = (n: number) => users[n % users.length]
  for (let id = users.length + 1; id <= assistants; id++) {
    const user = ofUser(id - 1)
    if (user) yield created(chance, user, id, at)
  }
  for (let id = 1; id <= leads; id++) {
    const user = ofUser(id - 1)
    if (user) yield lead(chance, user, id, 0, at)
  }
}
