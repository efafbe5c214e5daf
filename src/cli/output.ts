// Output of commands: JSON for programs on stdout, sentences for people on stderr, and the log of a role.
import { setTimeout as delay } from 'node:timers/promises'
import { isatty } from 'node:tty'
import pino, { type Logger } from 'pino'
import { errorSerializer } from '../http/logging.js'

/** Foreign text must not steer the operator's terminal, so whatever prints replaces them; line ends stay. */
const controls = /[^\P{C}\n]/gu

export const printable = (text: string): string => text.replaceAll(controls, '·')

/** Prints a line for people on stderr, so that stdout can be piped. */
export function say (line: string): void {
  process.stderr.write(`${printable(line)}\n`)
}

export function print (text: string): void {
  process.stdout.write(printable(text))
}

export function printJson (value: object): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2).replaceAll(controls, escaped)}\n`)
}

const escaped = (text: string) =>
  text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

export function answer (json: boolean | undefined, value: object, line: string): void {
  if (json) printJson(value)
  else say(line)
}

type Cell = string | number | bigint | boolean

/** A table as text without colours; `head` is its first line. */
export async function tableOf (rows: Cell[][], head?: string[]): Promise<string> {
  const { default: Table } = await import('cli-table3')
  const table = new Table({ ...(head && { head }), style: { head: [], border: [] } })
  for (const row of rows) table.push(row.map((cell) => printable(String(cell))))
  return `${table.toString()}\n`
}

/** How a long-running command reports its state. */
export interface Voice {
  /** Reports progress; `facts` are for programs. */
  say (line: string, facts?: Record<string, unknown>): void
  /** Reports why it ends. */
  complain (problem: unknown): void
  /** Call right after the last line: an exit may overtake a line that is still being written. */
  written (): Promise<void>
}

/** Writes sentences to stderr. */
export const forPeople: Voice = {
  say,
  complain (problem) { say(problem instanceof Error ? `ringledger: ${problem.message}` : String(problem)) },
  async written () {} // Node writes stderr at once
}

/** Buffer for lines while the disk is full, in bytes; beyond it lines are lost. */
const mostBytes = 4 * 2 ** 20

/** How long an exit waits for a reader to take the last lines. */
const writtenWithinMs = 1_000

/** Formats a log line for a terminal: time, level, message, facts. */
export function readable (line: string): string {
  const { level, time, msg, err, ...facts }: Record<string, unknown> = JSON.parse(line)
  const told = Object.entries({ ...facts, ...(err instanceof Object && { error: Reflect.get(err, 'message') }) })
  const words = told.map(([name, fact]) => `${name}=${typeof fact === 'string' ? fact : JSON.stringify(fact)}`)
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  return `${printable([clock, pino.levels.labels[Number(level)], msg, ...words].join(' ')).replaceAll('\n', '·')}\n`
}

/**
 * Logs to stdout or another file descriptor: JSON, or sentences on a terminal. A line that cannot be written neither
 * ends the process nor blocks it.
 */
export function openLog (level: string, fd = 1) {
  const destination = pino.destination({ fd, maxLength: mostBytes })
  destination.on('error', () => {}) // the next line retries it
  // At an exit and after a fatal line, pino would retry the flush again and again, endlessly on a full disk.
  destination.flushSync = () => {}
  const onTerminal = { write: (line: string) => destination.write(readable(line)) }
  const log = pino({ level, base: null, serializers: { err: errorSerializer } }, isatty(fd) ? onTerminal : destination)
  const drained = () => new Promise<unknown>((resolve) => { destination.once('drain', resolve).once('error', resolve) })
  /** Call right after a line. Resolves when it is written, or soon in any case. */
  const written = async () => { await Promise.race([drained(), delay(writtenWithinMs)]) }
  return { log, written }
}

/**
 * How a role reports its own start and stop: sentences on a terminal, else log lines, so that a log collector reads
 * nothing but JSON. Printed at every LOG_LEVEL, as they are few and others wait for them.
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

/** Logs warnings of Node instead of printing them to stderr. */
export function logWarnings (log: Logger): void {
  process.removeAllListeners('warning') // Node's own, which prints them
  process.on('warning', (warning) => { log.warn({ err: warning }, 'a warning of Node') })
}
