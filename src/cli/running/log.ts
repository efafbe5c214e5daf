// The log of a process.
import pino, { type Logger } from 'pino'
import { errorSerializer } from '../../http/logging.js'

/** What waits for room on a full disk; beyond it lines are lost. */
const mostBytes = 4 * 2 ** 20

/** Logs to stdout, or to another file descriptor. A line that cannot be written ends nobody. */
export function openLog (level: string, fd = 1): Logger {
  const destination = pino.destination({ fd, maxLength: mostBytes })
  destination.on('error', () => {}) // it is tried again with the next line
  return pino({ level, base: null, serializers: { err: errorSerializer } }, destination)
}
