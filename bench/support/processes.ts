// What the processes of the service have used so far: CPU and memory, children included. Linux only.
import { readFileSync, readdirSync } from 'node:fs'

/** Of the clock that /proc counts CPU by. */
const ticksPerSecond = 100

/** Process ids by what they are; Postgres is that of its postmaster. */
export type Pids = Record<string, number>

/** Milliseconds of CPU of each, and of its children that live or have ended. */
export function cpuOf (pids: Pids): Record<string, number> {
  return byName(pids, (pid) => cpuMs(pid))
}

/** Memory of their own in MiB: what a process shares with others is not counted. */
export function memoryOf (pids: Pids): Record<string, number> {
  return byName(pids, (pid) => Number(/RssAnon:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024)
}

/** Memory in MiB: `pss` counts a page that several processes share in parts, `rss` in each of them. */
export interface Share { pss: number, rss: number }

export function shareOf (pids: readonly number[]): Share {
  const rollups = pids.map((pid) => read(`/proc/${pid}/smaps_rollup`))
  const sum = (field: RegExp) => rollups.reduce((all, text) => all + Number(field.exec(text)?.[1] ?? 0), 0) / 1024
  return { pss: sum(/^Pss:\s+(\d+) kB/m), rss: sum(/^Rss:\s+(\d+) kB/m) }
}

/**
 * The most resident memory that each had, in MiB: of Postgres nothing is told, as its sessions share most of theirs.
 */
export function peaksOf ({ postgres: _shared, ...pids }: Pids): Record<string, number> {
  return byName(pids, (pid) => peakOf(pid) ?? 0)
}

/** Nothing where it has ended, or this is not Linux. */
export function peakOf (pid: number | undefined): number | undefined {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

function byName (pids: Pids, measure: (pid: number) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) =>
    [name, [pid, ...childrenOf(pid)].reduce((sum, each) => sum + measure(each), 0)]))
}

/** Of the process and of those children that have ended; 0 when it has ended itself. */
export function cpuMs (pid: number): number {
  const [, fields = ''] = /\) (.*)/s.exec(read(`/proc/${pid}/stat`)) ?? []
  const ticks = fields.split(' ').slice(11, 15).map(Number) // utime, stime, and those of children that were waited for
  return ticks.reduce((sum, each) => sum + each, 0) * 1_000 / ticksPerSecond
}

export function childrenOf (pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number))
  } catch {
    return [] // it has ended
  }
}

function read (file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
