// Compares what was acknowledged with what is there.
import type { ResolvedEvent } from '@eventstore/db-client'
import type { Test } from 'tap'
import { collect } from './scratch-event-store.js'
import type { Recorded } from './followers.js'
import { isAcknowledged } from './load.js'
import type { Writing } from './writers.js'

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
