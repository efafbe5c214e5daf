// The time in which a person kills nodes.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

/** @param seconds without them until somebody presses Enter */
export async function pauseForFaults (seconds: number | undefined, say: (line: string) => void): Promise<void> {
  const what = 'NOW kill nodes of the event store, and start them again. The load goes on.'
  if (seconds !== undefined) {
    say(`${what} It is counted in ${seconds} s whether they are back.`)
    await delay(seconds * 1_000)
    return
  }
  say(`${what} Press Enter when all of them are back.`)
  const lines = createInterface(process.stdin)
  await Promise.race([once(lines, 'line'), once(lines, 'close')])
  lines.close()
}
