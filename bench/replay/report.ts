// Prints what the bench of replays has measured.
import Table from 'cli-table3'
import { perSecond, whole } from '../support/statistics.js'
import type { Copied } from './copy.js'
import type { Filled } from './fill.js'
import type { Lag } from './lag.js'

export interface Drained { events: number, seconds: number }
export interface Replayed {
  name: string
  drained: Drained
  seconds: number
  /** MiB. */
  peak: number
  /** Milliseconds of CPU of the command. */
  cpu: number
  copied: Copied
}

export interface Measured { filled: Filled, caughtUp: number, replayed: Replayed[], lag: Lag }

/** The JSON, or tables for people. */
export function report (measured: Measured, asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify(measured)}\n`)
  const { filled, caughtUp, replayed, lag } = measured
  const columns = Object.keys(replayed[0] ? row(replayed[0]) : {})
  const table = new Table({ head: columns, style: { head: [], border: [] } })
  for (const each of replayed) table.push(Object.values(row(each)))
  const ms = ([p50, p99]: [number, number]) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  const size = whole(filled.bytes / filled.events)
  process.stdout.write(`${table.toString()}
${whole(filled.events)} events of ${size} bytes on average, written at ${perSecond(filled.events, filled.seconds)}/s. \
All projections live from the beginning: ${caughtUp.toFixed(1)} s.
At ${whole(lag.perSecond)} writes/s: acknowledged ${ms(lag.append)}; visible to readers ${ms(lag.visible)}.
`)
}

function row ({ name, drained, seconds, peak, copied }: Replayed): Record<string, string> {
  return {
    '': name,
    events: whole(drained.events),
    rows: whole(copied.rows),
    'replay s': seconds.toFixed(1),
    'events/s': perSecond(drained.events, seconds),
    'drain events/s': perSecond(drained.events, drained.seconds),
    share: `${(drained.seconds / seconds * 100).toFixed(0)} %`,
    'COPY rows/s': perSecond(copied.rows, copied.copySeconds),
    'COPY + indexes s': (copied.copySeconds + copied.indexSeconds).toFixed(1),
    'peak MiB': whole(peak)
  }
}
