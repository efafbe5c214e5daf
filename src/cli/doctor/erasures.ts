// How many erasures of persons wait: for a scavenge of the event store, or for an operator.
import type { Pool } from 'pg'
import { waitingErasures } from '../../../workers/persons/erasures/request.js'
import { unscavenged } from '../../../workers/persons/unscavenged.js'
import { skipped, warning, type Found } from './check.js'

export interface ScavengedStore {
  /** When the last scavenge of each member began, by its name; nothing when that cannot be read. */
  lastScavenges (): Promise<Map<string, Date> | undefined>
  memberCount (): Promise<number>
}

const mend = 'Scavenge every member: docs/eventstoredb.md, "Scavenging". A server tells of scavenges for 30 days.'

/** Since when every member was scavenged: the earliest of their last scavenges, once each has one. */
export async function erasuresFound (pool: Pool, store: ScavengedStore | undefined): Promise<Found> {
  const [waiting] = await waitingErasures(pool)
  if (waiting) return warning(`erasure ${waiting.id} waits for ${waiting.waits_for}`, 'docs/privacy.md, "What an operator does"')
  if (!store) return skipped('the event store does not run')
  const [scavenges, members] = await Promise.all([store.lastScavenges(), store.memberCount()])
  const times = [...scavenges?.values() ?? []].map(Number)
  const scavengedAt = times.length > 0 && times.length >= members ? new Date(Math.min(...times)) : undefined
  const { count, oldest } = await unscavenged(pool, scavengedAt)
  if (count === 0) return 'none waits for a scavenge'
  const found = `${count} ${count === 1 ? 'waits' : 'wait'} for a scavenge, the oldest since ${oldest?.toISOString()}`
  if (scavenges) return warning(found, mend)
  return warning(`${found}, unless one was done since: this login may not read $scavenges`, mend)
}
