// Folds the log into a generation that is being built: in memory, written in bulk, from its checkpoint on.
import type { Pool } from 'pg'
import { Fenced, readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { pause } from '../../src/timing/pause.js'
import { skipProcessed } from '../../src/subscriptions/skip-processed.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { checkpointOf, schemaOf } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import { MemoryRows } from '../engine/rows.js'
import { Folder } from './folder.js'
import { cannotProject, ReplayRefused } from '../generations/refused.js'
import { DataRefused, Presumed, WriteBehind, type Part } from './write-behind.js'

export interface FoldOptions {
  pool: Pool
  streams: Streams
  signal: AbortSignal
  /** Of the builder's lease. */
  epoch: bigint
  /** Events since this call, and which part of them this is, 0 to 1. */
  onProgress? (events: number, done: number): void
  limits?: Partial<Limits> | undefined
  /** Before the first try after an error that passes; each further one is twice as long, up to 5 s. */
  shortestPauseMs?: number | undefined
}

export interface Limits {
  /** Memory for rows, in bytes, beside those that are being written. */
  cacheBytes: number
  /** Most events in one transaction. */
  events: number
}

const usualLimits: Limits = { cacheBytes: 16 * 2 ** 20, events: 20_000 }
/** Rows are loaded once a batch: few, large ones spare round trips. */
const lingerMs = 20
const mostFailures = 8
const usualShortestPauseMs = 200
const longestPauseMs = 5_000

/**
 * Brings the generation from its checkpoint to `until` exactly. Goes on by itself after an error that passes, such as
 * a restart of a back end. When Postgres refuses what a piece of the log says, smaller ones are tried, until a single
 * event is at fault.
 * @throws ReplayRefused naming an event that cannot be projected; Fenced when another process builds this generation
 */
export async function foldUntil (
  projection: Projection, generation: number, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, signal, shortestPauseMs = usualShortestPauseMs } = options
  const { cacheBytes, events } = { ...usualLimits, ...options.limits }
  let mostEvents = events
  let former = -1n
  let presumesNew = true
  for (let failures = 0; ;) {
    try {
      const from = await readCheckpoint(pool, checkpointOf(projection, generation))
      if (from >= until) return
      if (from > former) failures = 0
      former = from
      await foldPiece(projection, generation, { from, until, mostEvents, cacheBytes, presumesNew }, options)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DataRefused && mostEvents === 1) {
        throw cannotProject(projection, error.event, error.message)
      }
      if (error instanceof DataRefused) mostEvents = Math.ceil(mostEvents / 8)
      else if (error instanceof Presumed && presumesNew) presumesNew = false
      else if (error instanceof ReplayRefused || error instanceof Fenced || ++failures > mostFailures) throw error
      else await pause(Math.min(shortestPauseMs * 2 ** (failures - 1), longestPauseMs), signal)
    }
  }
}

interface Piece { from: bigint, until: bigint, mostEvents: number, cacheBytes: number, presumesNew: boolean }

/** Nothing of it is on its way to the database any more when it throws. */
async function foldPiece (
  projection: Projection, generation: number, piece: Piece, options: FoldOptions
): Promise<void> {
  const { pool, epoch } = options
  const schema = schemaOf(projection, generation)
  const { from, cacheBytes: budgetBytes, presumesNew } = piece
  const rows = new MemoryRows(projection.tables, { isEmpty: from === 0n, budgetBytes, presumesNew })
  const folder = await Folder.open(projection, pool, rows)
  const behind = new WriteBehind({ pool, schema, epoch }, rows, from, piece.mostEvents)
  try {
    await followUntil(projection, piece, { folder, behind, schema }, options)
  } finally {
    await behind.settle().catch(() => {}) // what it failed with was thrown, or comes after another error
  }
}

interface Tools { folder: Folder, behind: WriteBehind, schema: string }

async function followUntil (
  { eventTypes }: Projection, { from, until, mostEvents, presumesNew }: Piece, { folder, behind, schema }: Tools,
  { pool, streams, signal, onProgress }: FoldOptions
): Promise<void> {
  let events = 0
  let reached = from
  const following = streams.follow({ after: from, eventTypes, signal, lingerMs })
  for await (const delivered of following) {
    const batch = skipProcessed(delivered, reached)
    if (batch.position <= reached) continue
    reached = batch.position
    const parts = partsOf(batch, until, mostEvents)
    for (let part = parts.shift(); part; part = parts.shift()) {
      const left = await folder.loadAndFold(part.events, pool, schema, presumesNew)
      const folded = without(part, left)
      if (left.length > 0) parts.unshift({ events: left, position: part.position })
      if (!behind.isDue(folded) && folded.position < until) continue
      await folder.ids.raise(pool)
      await behind.write(folded.position)
    }
    events += batch.events.length
    onProgress?.(events, Number(batch.position - from) / Number(until - from))
    if (batch.position >= until) return await behind.settle()
  }
  signal.throwIfAborted()
}

/** The part without its last events. */
function without (part: Part, { length }: StoredEvent[]): Part {
  if (length === 0) return part
  const events = part.events.slice(0, -length)
  return { events, position: events.at(-1)?.position ?? part.position }
}

/** The batch up to `until`, in parts of `mostEvents` at most; the last one ends where the batch does, or at `until`. */
function partsOf (batch: Part, until: bigint, mostEvents: number): Part[] {
  const isWhole = batch.position <= until
  const events = isWhole ? batch.events : batch.events.filter(({ position }) => position <= until)
  const end = isWhole ? batch.position : until
  const parts: Part[] = []
  for (let at = 0; at === 0 || at < events.length; at += mostEvents) {
    const part = events.slice(at, at + mostEvents)
    const isLast = at + mostEvents >= events.length
    parts.push({ events: part, position: isLast ? end : part.at(-1)?.position ?? end })
  }
  return parts
}
