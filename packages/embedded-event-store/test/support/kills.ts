// Ways to kill the event store and its Postgres under a load.
import { type Chaos, eventually, killAll, type PostgresCluster } from '@ringledger/embedded-postgres/testing'
import type { EventStoreProcess } from './event-store-process.js'
import type { ResolvedEvent } from '@eventstore/db-client'
import type { Test } from 'tap'
import { collect } from './scratch-event-store.js'
import type { Recorded } from './followers.js'
import { isAcknowledged } from './load.js'
import type { Writing } from './writers.js'

/** By their names; each resolves when everything is there again. */
export function killsOf (
  server: EventStoreProcess, postgres: PostgresCluster, chaos: Chaos
): Record<string, () => Promise<void>> {
  return {
    async server () {
      await server.kill()
      await bringBack(server, chaos)
    },
    async postmaster () {
      await postgres.kill()
      await bringBack(postgres, chaos)
    },
    async 'all of Postgres' () {
      await killWhole(postgres)
      await bringBack(postgres, chaos)
    },
    async everything () {
      await Promise.all([server.kill(), killWhole(postgres)])
      await bringBack(postgres, chaos)
      await bringBack(server, chaos)
    },
    /** Then Postgres ends its other sessions too, and recovers by itself. */
    'writing session': async () => { killAll(await eventually(() => writingSessions(postgres))) }
  }
}

/** Starts it again; now and then it is killed while it starts. */
async function bringBack (killed: Pick<EventStoreProcess, 'start' | 'kill'>, { onceIn, instant }: Chaos): Promise<void> {
  if (onceIn(4)) {
    const starting = killed.start().catch(() => {}) // it did not come that far
    await instant(500)
    await killed.kill()
    await starting
    await killed.kill() // the first kill may have come between two of its tries
  }
  await killed.start()
}

async function killWhole (postgres: PostgresCluster): Promise<void> {
  const children = await eventually(() => postgres.children())
  const killed = postgres.kill()
  killAll(children)
  await killed
}

async function writingSessions (postgres: PostgresCluster): Promise<number[] | false> {
  const sessions = await postgres.children('ringledger-event-store-writer')
  return sessions.length > 0 && sessions
}

export const eventsOf = (read: readonly ResolvedEvent[]) => read.flatMap(({ event }) => event ?? [])

/** Asserts that two lists are the same, in the order of the list. */
export function same (t: Test, found: readonly unknown[], wanted: readonly unknown[], message: string): void {
  t.equal(firstDifference(found, wanted), 'none', message)
}

function firstDifference (found: readonly unknown[], wanted: readonly unknown[]): string {
  const longer = found.length > wanted.length ? found : wanted
  const index = longer.findIndex((_, index) => found[index] !== wanted[index])
  if (index < 0) return 'none'
  return `${index} of ${wanted.length}: found ${String(found[index])}, wanted ${String(wanted[index])}`
}

/** Every append of a stream is there once, whole, where the answer said. */
export async function isWhole (
  t: Test, { client, stream, attempts }: Writing, placed: ReadonlyMap<string, Recorded>
): Promise<void> {
  const events = eventsOf(await collect(client.readStream(stream)))
  // Of an append that was given up all is there, or nothing.
  const there = attempts.filter((attempt) => isAcknowledged(attempt) || attempt.ids.some((id) => placed.has(id)))
  const ids = there.flatMap(({ ids }) => ids)
  same(t, events.map(({ id }) => id), ids, `${stream}: whole appends, each once, in order`)
  const revisions = events.map(({ revision }) => revision)
  same(t, revisions, events.map((_, index) => BigInt(index)), `${stream}: revisions without gaps`)
  const answers = attempts.filter(isAcknowledged)
  const last = answers.map(({ ids }) => placed.get(ids.at(-1) ?? ''))
  const positions = answers.map(({ answer }) => answer?.position?.commit)
  same(t, positions, last.map((event) => event?.position?.commit), `${stream}: positions as answered`)
  const expected = answers.map(({ answer }) => answer?.nextExpectedRevision)
  same(t, expected, last.map((event) => event?.revision), `${stream}: revisions as answered`)
}
