// What the bench of the event store tells as JSON.

export interface Row {
  what: string
  /** Each a second: of the server, of the server on memory, and of Postgres without a server. */
  sql: number
  memory: number
  raw: number
  /** p50 and p99 in milliseconds, of appends. */
  ms?: [number, number]
  rawMs?: [number, number]
}

export interface Reported {
  rows: Row[]
  /** From append to a subscriber, in milliseconds. */
  latency: { p50: number, p99: number }
  /** Memory of the server in MiB, before and after each crowd of subscribers. */
  resident: number[]
}
