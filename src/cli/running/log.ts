// The log of a process.
import { setTimeout as delay } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { errorSerializer } from '../../http/logging.js'
import { forPeople, type Voice } from './output.js'

/** What waits for room on a full disk; beyond it lines are lost. */
const mostBytes = 4 * 2 ** 20

/** A reader that does not take the last lines keeps no process. */
const writtenWithinMs = 1_000

export interface Log {
  log: Logger
  /** To be asked right behind a line. Resolves when it is written, or soon in any case. */
  written (): Promise<void>
}

/** Logs to stdout, or to another file descriptor. A line that cannot be written ends nobody, and holds nobody up. */
export function openLog (level: string, fd = 1): Log {
  const destination = pino.destination({ fd, maxLength: mostBytes })
  destination.on('error', () => {}) // it is tried again with the next line
  // At an exit, and behind a fatal line, it would write what is left again and again, and beside a full disk never end.
  destination.flushSync = () => {}
  const log = pino({ level, base: null, serializers: { err: errorSerializer } }, destination)
  const drained = () => new Promise<unknown>((resolve) => { destination.once('drain', resolve).once('error', resolve) })
  return { log, async written () { await Promise.race([drained(), delay(writtenWithinMs)]) } }
}

/**
 * How a role tells of its own life: sentences where stdout is a terminal, else lines of its log, so that whatever
 * collects them reads nothing but JSON. At every LOG_LEVEL: they are few, and others wait for them.
 */
export function voiceOf ({ log, written }: Log): Voice {
  if (process.stdout.isTTY) return forPeople
  const own = log.child({}, { level: 'info' })
  return {
    say (line, facts = {}) { own.info(facts, line) },
    complain (problem) {
      if (problem instanceof Error) own.fatal({ err: problem }, problem.message)
      else own.fatal(String(problem))
    },
    written
  }
}

/** Warnings of Node itself are lines of the log, not text on stderr. */
export function logWarnings (log: Logger): void {
  process.removeAllListeners('warning') // the one of Node, which prints them
  process.on('warning', (warning) => { log.warn({ err: warning }, 'a warning of Node') })
}
