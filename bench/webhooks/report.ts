// Prints what the bench of webhooks has measured.
import Table from 'cli-table3'
import { median, whole } from '../support/statistics.js'
import type { Latency } from './idle.js'

export interface Rates { delivered: number, jobs: number, posts: number }
export interface Idle { event: Latency, http: Latency }
export interface Measured { queue: string, rates: Rates[], idle: Idle }

/** The JSON, or tables for people. */
export function report (measured: Measured[], asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify(measured)}\n`)
  const style = { head: [], border: [] }
  const rates = new Table({
    head: ['queue on', 'deliveries/s', 'empty jobs/s', 'bare POSTs/s', 'share of the lower limit'], style
  })
  const idle = new Table({ head: ['queue on', 'by event, p50 / p99 ms', 'by HTTP, p50 / p99 ms'], style })
  for (const { queue, rates: each, idle: { event, http } } of measured) {
    const share = median(each.map(({ delivered, jobs, posts }) => delivered / Math.min(jobs, posts)))
    const middle = (what: keyof Rates) => whole(median(each.map((rate) => rate[what])))
    rates.push([queue, middle('delivered'), middle('jobs'), middle('posts'), `${(share * 100).toFixed(0)} %`])
    idle.push([queue, ms(event), ms(http)])
  }
  process.stdout.write(`${rates.toString()}

From the end of a call to its receiver, nothing else going on:
${idle.toString()}
`)
}

function ms ({ p50, p99 }: Latency): string {
  return `${p50.toFixed(1)} / ${p99.toFixed(1)}`
}
