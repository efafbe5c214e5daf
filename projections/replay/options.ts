// What the operations on generations work with.
import type { Pool } from 'pg'
import type { RunOptions } from '../../src/subscriptions/run.js'
import type { FeedOptions } from '../engine/feed.js'
import type { Streams } from '../../src/log/event-log.js'

/** How far long work is. */
export interface Progress {
  doing: string
  /** Events since this began; 0 where none are read. */
  events: number
  /** 0 to 1; absent where it is not known. */
  done?: number
}

export interface OperationOptions {
  /** Its statements may take as long as they like. */
  pool: Pool
  /** Its statements may not, and it lets no transaction idle. */
  consumerPool: Pool
  streams: Streams
  /** Names this process in leases, for operators. */
  holder: string
  /** Breaks the operation off, which may be run again. */
  signal: AbortSignal
  log: RunOptions['log']
  leaseTimes?: FeedOptions['leaseTimes']
  checkEveryMs?: FeedOptions['checkEveryMs']
  onProgress? (progress: Progress): void
  /** For people: each line once. */
  say? (line: string): void
  /**
   * Values of rows that differ are told. Only where an operator looks on: they are of persons, and what is kept or
   * logged outlives an erasure.
   */
  showsValues?: boolean
}
