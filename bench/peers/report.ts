// Prints what the bench of peers has measured.
import Table from 'cli-table3'
import { median, perSecond, whole } from '../support/statistics.js'
import type { Measured } from './measure.js'
import type { Rebuilt } from './rebuild.js'

/** The JSON of every round, or tables of the medians for people. */
export function report (measured: readonly Measured[], rebuilt: readonly Rebuilt[], asJson: boolean): void {
  if (asJson) return void process.stdout.write(`${JSON.stringify({ measured, rebuilt })}\n`)
  const style = { head: [], border: [] }
  const head = ['request', 'in flight', 'service', 'a second', 'p50 ms', 'p99 ms', 'CPU ms', 'of them']
  const table = new Table({ head, style })
  for (const { request, inFlight, name, rounds } of inOrder(measured)) {
    const of = (value: (one: Measured) => number) => median(rounds.map(value))
    const rate = of(({ figures }) => figures.perSecond)
    const cpu = cpuOf(rounds)
    const spent = Object.values(cpu).reduce((all, each) => all + each, 0).toFixed(2)
    const list = Object.entries(cpu).map(([process, ms]) => `${process} ${ms.toFixed(2)}`).join(', ')
    const times = [of(({ figures }) => figures.p50), of(({ figures }) => figures.p99)].map((ms) => ms.toFixed(1))
    table.push([request, inFlight, name, whole(rate), ...times, spent, list])
  }
  const rebuilds = new Table({ head: ['rebuild', 'events', 'seconds', 'events/s'], style })
  for (const { contender, events, seconds } of rebuilt) {
    rebuilds.push([contender, whole(events), seconds.toFixed(1), perSecond(events, seconds)])
  }
  process.stdout.write(`${table.toString()}\n${rebuilds.toString()}\n`)
}

interface Group { request: string, inFlight: number, name: string, rounds: Measured[] }

/** The rounds of each, those of one request together. */
function inOrder (measured: readonly Measured[]): Group[] {
  const groups = new Map<string, Group>()
  for (const one of measured) {
    const { request, inFlight, contender, waits } = one
    const name = waits ? contender : `${contender}, no wait`
    const key = `${request} ${inFlight} ${name}`
    const group = groups.get(key) ?? { request, inFlight, name, rounds: [] }
    group.rounds.push(one)
    groups.set(key, group)
  }
  const requests = [...new Set(measured.map(({ request }) => request))]
  return [...groups.values()].sort((one, other) =>
    requests.indexOf(one.request) - requests.indexOf(other.request) || one.inFlight - other.inFlight)
}

function cpuOf (rounds: readonly Measured[]): Record<string, number> {
  const names = Object.keys(rounds[0]?.figures.cpu ?? {})
  return Object.fromEntries(names.map((name) => [name, median(rounds.map(({ figures }) => figures.cpu[name] ?? NaN))]))
}
