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

/** Milliseconds of CPU of each thread, to the nanosecond: for processes that hardly do anything. */
export function scheduledMs (pids: Pids): ReadonlyMap<string, number> {
  const tasks = Object.values(pids).flatMap((pid) => [pid, ...childrenOf(pid)])
    .flatMap((pid) => listed(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`))
  return new Map(tasks.map((file) => [file, Number(read(file).split(' ')[0]) / 1e6]))
}

/** Anonymous memory in MiB: what a process shares with others, or can drop, is not counted. */
export function ownMemory (pids: Pids): Record<string, number> {
  return byName(pids, (pid) => Number(/RssAnon:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024)
}

/** Memory in MiB: a page that several processes share counts in parts. */
export function proportionalMemory (pids: Pids): number {
  return sum(byName(pids, (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024))
}

/** The most resident memory that each had, in MiB: not of Postgres, as its sessions share most of theirs. */
export function peaksOf ({ postgres: _shared, ...pids }: Pids): Record<string, number> {
  return byName(pids, (pid) => peakOf(pid) ?? 0)
}

/** Nothing where it has ended, or this is not Linux. */
export function peakOf (pid: number | undefined): number | undefined {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

export const sum = (values: Record<string, number>) => Object.values(values).reduce((all, each) => all + each, 0)

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

function childrenOf (pid: number): number[] {
  return listed(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number))
}

function listed (folder: string): string[] {
  try {
    return readdirSync(folder)
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
