// What a command says: answers for programs on stdout, words for people on stderr, and the log of a role.
import { setTimeout as delay } from 'node:timers/promises'
import { isatty } from 'node:tty'
import pino, { type Logger } from 'pino'
import { errorSerializer } from '../http/logging.js'

/** Prints a line for people; what is on stdout can still be piped on. */
export function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Prints an answer for programs. */
export function printJson (value: object): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
}

/** The answer for a program, or the line for a person. */
export function answer (json: boolean | undefined, value: object, line: string): void {
  if (json) printJson(value)
  else say(line)
}

type Cell = string | number | bigint | boolean

/** The text of a table without colours; `head` is its first line. */
export async function tableOf (rows: Cell[][], head?: string[]): Promise<string> {
  const { default: Table } = await import('cli-table3')
  const table = new Table({ ...(head && { head }), style: { head: [], border: [] } })
  for (const row of rows) table.push(row.map(String))
  return `${table.toString()}\n`
}

/** Makes text of others harmless: it cannot steer the operator's terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '·')

/** How a long-running command tells of itself. */
export interface Voice {
  /** How far it has come; `facts` are for programs. */
  say (line: string, facts?: Record<string, unknown>): void
  /** Why it ends. */
  complain (problem: unknown): void
  /** To be asked right behind the last words: an exit may overtake a line that is on its way. */
  written (): Promise<void>
}

/** Sentences on stderr. */
export const forPeople: Voice = {
  say,
  complain (problem) { say(problem instanceof Error ? `ringledger: ${problem.message}` : String(problem)) },
  async written () {} // Node writes stderr at once
}

/** What waits for room on a full disk; beyond it lines are lost. */
const mostBytes = 4 * 2 ** 20

/** A reader that does not take the last lines keeps no process. */
const writtenWithinMs = 1_000

/** A line of the log as a person reads it on a terminal: when, how bad, what, and the facts. */
export function readable (line: string): string {
  const { level, time, msg, err, ...facts }: Record<string, unknown> = JSON.parse(line)
  const told = Object.entries({ ...facts, ...(err instanceof Object && { error: Reflect.get(err, 'message') }) })
  const words = told.map(([name, fact]) => `${name}=${typeof fact === 'string' ? fact : JSON.stringify(fact)}`)
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  return `${printable([clock, pino.levels.labels[Number(level)], msg, ...words].join(' '))}\n`
}

/**
 * Logs to stdout, or to another file descriptor: JSON, or sentences where that is a terminal. A line that cannot be
 * written ends nobody, and holds nobody up.
 */
export function openLog (level: string, fd = 1) {
  const destination = pino.destination({ fd, maxLength: mostBytes })
  destination.on('error', () => {}) // it is tried again with the next line
  // At an exit, and behind a fatal line, it would write what is left again and again, and beside a full disk never end.
  destination.flushSync = () => {}
  const onTerminal = { write: (line: string) => destination.write(readable(line)) }
  const log = pino({ level, base: null, serializers: { err: errorSerializer } }, isatty(fd) ? onTerminal : destination)
  const drained = () => new Promise<unknown>((resolve) => { destination.once('drain', resolve).once('error', resolve) })
  /** To be asked right behind a line. Resolves when it is written, or soon in any case. */
  const written = async () => { await Promise.race([drained(), delay(writtenWithinMs)]) }
  return { log, written }
}

/**
 * How a role tells of its own life: sentences where stdout is a terminal, else lines of its log, so that whatever
 * collects them reads nothing but JSON. At every LOG_LEVEL: they are few, and others wait for them.
 */
export function voiceOf ({ log, written }: ReturnType<typeof openLog>): Voice {
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
