// What a command prints: answers for programs on stdout, words for people on stderr.

/** Prints a line for people; what is on stdout can still be piped on. */
export function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

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

/** Prints an answer for programs. */
export function printJson (value: object): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
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
