// How much processor time a process took, with that of those which it started and which have ended.
import { readFileSync } from 'node:fs'

/** A tick of `/proc`, as every Linux counts them. */
const ticksPerSecond = 100

/** Seconds in user and system mode. Where there is no `/proc`, those of this process alone. */
export function cpuSeconds (): number {
  try {
    return ticksIn(readFileSync('/proc/self/stat', 'utf8')) / ticksPerSecond
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}

/** Its own and those of its children, which follow each other behind the name of the program. */
function ticksIn (stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
}
