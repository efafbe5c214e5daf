// What the runner and a process that runs files say to each other.

/** To the process: run this file. */
export interface Order {
  /** From the root of the repository, such as `test/ids.test.ts`. */
  source: string
  compiled: string
  timeoutMs: number
}

/** From the process; what else it sends is of tap, and means nothing. */
export type News =
  /** More of what the file reports. */
  | { tap: string }
  /** The file wants so much time from now on; 0 for any. */
  | { timeoutMs: number }
  /** It is over, took so much of the processor, and this is open in the process, by kind. */
  | { open: Record<string, number>, hasTimedOut: boolean, cpuSeconds: number }
