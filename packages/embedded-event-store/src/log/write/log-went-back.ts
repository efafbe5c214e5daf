// The one thing that a log cannot go on from.

/** Postgres came back without events that it had committed. */
export class LogWentBack extends Error {
  constructor (known: number, found: number) {
    super(`Postgres has lost acknowledged events: the log ends at ${found}, it ended at ${known}`)
  }
}
