// The commands that documents name, held against the command line and the scripts that there are.
import type { Command } from 'commander'
import { commandLine } from '../../../src/cli/commands.js'

export interface Named { file: string, command: string }

/** What stands in blocks of code and between backticks: from `ringledger` or `npm` to the end of its command. */
export function commandsIn (file: string, text: string): Named[] {
  const fenced = [...text.matchAll(/^```(?:bash|sh|)\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  const prose = text.replace(/^```[^]*?^```$/gm, '')
  const indented = [...prose.matchAll(/(?<=\n\n)(?: {4,}.*\n)+/g)].map(([code]) => code)
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' '))
  return [...fenced, ...indented, ...spans].flatMap((code) => code.replace(/\\\n/g, ' ').split('\n'))
    .flatMap((line) => [...line.matchAll(/(?<![\w./-])(?:ringledger|npm (?:run|test|start))\b[^#]*/g)])
    .map(([found]) => ({ file, command: endOf(found) }))
}

/** The first column of the table of commands in README.md, which leaves `ringledger` away. */
export function commandsInTable (file: string, text: string): Named[] {
  const [table = ''] = /^\| command \| does \|\n\| --- \| --- \|\n\| `start`[^]*?\n\n/m.exec(text) ?? []
  return table.split('\n').flatMap((row) => {
    const spans = [...(/^\| (.*?[^\\]) \|/.exec(row)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', '|'))
    const [first = ''] = spans
    // `projections list`, `show`: the later ones stand in the group of the first
    const group = first.split(' ').slice(0, -1).filter((word) => /^[a-z]/.test(word)).join(' ')
    return spans.map((code, index) => ({ file, command: `ringledger ${index > 0 && /^[a-z]+$/.test(code) && group !== '' ? `${group} ` : ''}${code}` }))
  })
}

const endOf = (command: string) => (/^(?:'[^']*'|"[^"]*"|[^|;&><)'"`]|\|(?=\w))*/.exec(command)?.[0] ?? '').replace(/ … .*| …$/, '').trim()

/** What is wrong with a command, in words. */
export async function commandProblems (): Promise<(command: string) => string[]> {
  const program = await commandLine()
  return (command) => alternatives(command.split(/\s+/).slice(1)).flatMap((words) => problemsOf(program, words))
}

/** `replay|verify NAME` is two commands. */
export function alternatives (words: string[]): string[][] {
  const at = words.findIndex((word) => /^[a-z]+(\|[a-z]+)+$/.test(word))
  if (at === -1) return [words]
  return (words[at] ?? '').split('|').flatMap((word) => alternatives([...words.slice(0, at), word, ...words.slice(at + 1)]))
}

/** Every command that does something, as `ringledger projections list`. */
export async function allCommands (): Promise<string[]> {
  return leavesOf(await commandLine(), 'ringledger')
}

const leavesOf = (command: Command, path: string): string[] => command.commands.length === 0
  ? [path]
  : command.commands.flatMap((each) => leavesOf(each, `${path} ${each.name()}`))

function problemsOf (program: Command, words: string[]): string[] {
  let command = program
  const rest = [...words]
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0])
    if (!next) break
    command = next
    rest.shift()
  }
  const [first] = rest
  if (command.commands.length > 0 && first !== undefined && /^[a-z]/.test(first)) return [`${command.name()} has no command ${first}`]
  const known = [...command.options.map(({ long }) => long), '--help']
  const options = rest.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0] ?? '')
  return options.filter((option) => !known.includes(option)).map((option) => `${command.name()} has no option ${option}`)
}
