// Does rows side by side, those of one contact in their order.
import { setTimeout as delay } from 'node:timers/promises'
import type { SentLead } from './parts.js'

export interface Row {
  /** From 1. */
  number: number
  lead: SentLead
  ids: number[]
  /** It may be in the log: an earlier try was begun. */
  isRetry: boolean
}

/**
 * Rows that are begun together: they share commits of the event store, and the batches of those who follow the log. The
 * more there are, the cheaper is each, and the longer others wait for the CPU.
 */
const atOnce = 24
/** After them an import rests for this part of the time that they took, so where others are busy it rests longer. */
const rest = 1 / 2
const longestRestMs = 250

/**
 * What came of each row, in their order. When one throws, no further one is begun; it throws when those that were
 * begun have ended.
 */
export async function importRows<Result> (
  rows: readonly Row[], work: (row: Row) => Promise<Result>, signal: AbortSignal
): Promise<Result[]> {
  const results: Result[] = []
  for (const group of groupsOf(rows)) {
    signal.throwIfAborted()
    const began = performance.now()
    const ended = await Promise.allSettled(group.map(async ({ row, index }) => { results[index] = await work(row) }))
    const failed = ended.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    await delay(Math.min(longestRestMs, rest * (performance.now() - began)))
  }
  return results
}

interface Placed { row: Row, index: number }

/** A row of a contact is in a later group than the one before it. */
function groupsOf (rows: readonly Row[]): Placed[][] {
  const groups: Placed[][] = []
  const next = new Map<string, number>() // the first group that the next row of a contact may be in
  let firstOpen = 0
  for (const [index, row] of rows.entries()) {
    const contact = String(row.lead.body.phone_number)
    let at = Math.max(firstOpen, next.get(contact) ?? 0)
    while ((groups[at]?.length ?? 0) >= atOnce) at++
    const group = groups[at] ??= []
    group.push({ row, index })
    next.set(contact, at + 1)
    while ((groups[firstOpen]?.length ?? 0) >= atOnce) firstOpen++
  }
  return groups
}
