// A kind of durable work: how its requests are worked on, and how they end.
//
// A request that takes longer than an answer is a row of ledger.work. How to add a kind:
//
// 1. The route: `first` of its command calls `prepareRequest` (requests.ts) with the command id as the id of the
//    request and everything that the work needs, which says no when the user has too many; then the command appends its
//    event; then `answer` calls `acceptRequest`. So the log decides what was accepted: a crash between the append and
//    the acceptance is settled by `wasAccepted`. A GET reads it with `findRequest`.
// 2. The kind: an object of `BackgroundKind` with `work`, which does as much as it likes, keeps how far it is with
//    `turn.keep` in one transaction with whatever else it writes, and looks at `turn.isOver()` and `turn.signal`
//    between two steps. It may be killed anywhere, and be called again with the progress that was kept last: every
//    step must be safe to repeat. `finish` appends the last event, under a command id made of the request's
//    (`uuidV5`).
// 3. Its name and the object go to `kinds` in src/services/worker.ts. Everything else (lease, turns, retries, what a
//    killed worker leaves, removal after `keepDays`) is in run.ts.
//
// Tables of a kind refer to the request with ON DELETE CASCADE. `input` is emptied when a request is finished. A user
// has one request of a kind in work at a time: the oldest that neither waits nor has just failed.
import type { PoolClient } from 'pg'

/** `Input` and `Progress` are kept as JSON. */
export interface BackgroundRequest<Input extends object = object, Progress extends object = object> {
  id: string
  kind: string
  userId: string
  input: Input
  /** As `turn.keep` kept it last; an empty object before. */
  progress: Partial<Progress>
  /** Earlier turns in a row that kept nothing, not counting those that an outage ended. */
  failures: number
}

/** The time that one worker has for a request; then others have their turn. */
export interface Turn<Progress extends object = object> {
  /** Aborted when another worker may have the request, or this one stops: begin nothing more then. */
  readonly signal: AbortSignal
  /** Its time is up: return `again` after the step that is under way. */
  isOver (): boolean
  /**
   * Keeps the progress and what `write` writes, both or nothing. No step of it may take longer than three seconds.
   * @throws TurnLost when another worker has the request
   */
  keep (progress: Progress, write?: (tx: PoolClient) => Promise<void>): Promise<void>
}

/** It waits for others for `inMs`; meanwhile the user's next request of the kind has its turns. Not a failure. */
export interface Waiting { state: 'waiting', inMs: number }

/** `reason` is shown to the user. */
export type Ended = { state: 'completed' } | { state: 'failed', reason: string }

export interface BackgroundKind<Input extends object = object, Progress extends object = object> {
  /** Days that a finished request is kept. */
  keepDays: number
  /** A turn may take minutes: one of the kind runs at a time in a process, beside the others. */
  isLong?: boolean
  /** A part of the work, safe to repeat. What it throws is logged, and it is tried again after a while. */
  work (request: BackgroundRequest<Input, Progress>, turn: Turn<Progress>): Promise<'again' | Waiting | Ended>
  /** Called at least once before the end is written: appends the last event. `at` is ISO 8601. */
  finish? (request: BackgroundRequest<Input, Progress>, ended: Ended, at: string): Promise<void>
  /** Whether the log has the event of a request whose acceptance was not written in time. */
  wasAccepted? (id: string): Promise<boolean>
  /** Called in each pass of `tidying`: removes what belongs to no request. */
  tidy? (): Promise<void>
}

/** By the name of the kind. */
export type BackgroundKinds = Readonly<Record<string, BackgroundKind>>
