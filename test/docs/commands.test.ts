// Every command that a document names is there, with its options, and every file.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import type { Command } from 'commander'
import { commandLine } from '../../src/cli/commands.js'

interface Named { file: string, command: string }

/** Finds commands in blocks of code and between backticks: from `ringledger` or `npm` to the end. */
function commandsIn (file: string, text: string): Named[] {
  const fenced = [...text.matchAll(/^```(?:bash|sh|)\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  const prose = text.replace(/^```[^]*?^```$/gm, '')
  const indented = [...prose.matchAll(/(?<=\n\n)(?: {4,}.*\n)+/g)].map(([code]) => code)
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' '))
  return [...fenced, ...indented, ...spans].flatMap((code) => code.replace(/\\\n/g, ' ').split('\n'))
    .flatMap((line) => [...line.matchAll(/(?<![\w./-])(?:ringledger|npm (?:run|test|start))\b[^#]*/g)])
    .map(([found]) => ({ file, command: endOf(found) }))
}

const endOf = (command: string) => (/^(?:'[^']*'|"[^"]*"|[^|;&><)'"`]|\|(?=\w))*/.exec(command)?.[0] ?? '').replace(/ … .*| …$/, '').trim()

const program = commandLine()

const problemsWith = (command: string): string[] =>
  alternatives(command.split(/\s+/).slice(1)).flatMap((words) => problemsOf(program, words))

/** `replay|verify NAME` is two commands. */
function alternatives (words: string[]): string[][] {
  const at = words.findIndex((word) => /^[a-z]+(\|[a-z]+)+$/.test(word))
  if (at === -1) return [words]
  return (words[at] ?? '').split('|').flatMap((word) => alternatives([...words.slice(0, at), word, ...words.slice(at + 1)]))
}

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

const files = [
  'README.md', 'CONTRIBUTING.md', 'bench/README.md', 'examples/README.md',
  ...readdirSync('docs').filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
]
const named = files.flatMap((file): Named[] => commandsIn(file, readFileSync(file, 'utf8')))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

/** Recipes name them for what is not there. */
const madeUp = ['ringledger catalog voices']

t.test('every command of ringledger that a document names is there, with the options that it names', async (t) => {
  const ours = named.filter(({ command }) => command.startsWith('ringledger'))
  t.ok(ours.length > 100, `${ours.length} are found`)
  for (const { file, command } of ours) {
    if (!madeUp.some((start) => command.startsWith(start))) t.same(problemsWith(command), [], `${file}: ${command}`)
  }
})

t.test('the table of commands in the README has every command', async (t) => {
  const rows = readFileSync('README.md', 'utf8').split('\n').map((row) => [...(row.split(' | ')[0] ?? '').matchAll(/[a-z-]+/g)].map(String))
  const missing = (command: Command, path: string[]): string[] => command.commands.length > 0
    ? command.commands.flatMap((each) => missing(each, [...path, each.name()]))
    : rows.some((row) => path.every((word) => row.includes(word))) ? [] : [path.join(' ')]
  t.same(missing(program, []), [])
})

t.test('every file that a document names is there', async (t) => {
  const paths = files.filter((file) => file !== 'docs/adding.md').flatMap((file) => pathsIn(readFileSync(file, 'utf8')))
  t.ok(paths.length > 80, `${paths.length} are found`)
  t.same([...new Set(paths)].filter((path) => !existsSync(path)), [])
  t.same(pathsIn('a `src/{a,b}/{c,d}.ts`'), ['src/a/c.ts', 'src/a/d.ts', 'src/b/c.ts', 'src/b/d.ts'])
})

const ourPath = /`((?:bench|bin|deploy|docs|examples|migrations|packages|projections|src|test|workers)\/[\w./{},-]+)`/g
const pathsIn = (text: string): string[] => [...text.matchAll(ourPath)].flatMap(([, path = '']) => spread(path))

/** `{a,b}` stands for each. */
function spread (path: string): string[] {
  const [, before = '', each, after = ''] = /^(.*?)\{(.*?)\}(.*)$/.exec(path) ?? []
  return each === undefined ? [path] : each.split(',').flatMap((name) => spread(before + name + after))
}

t.test('every script of npm that a document names is there', async (t) => {
  const theirs = named.filter(({ command }) => command.startsWith('npm'))
  t.ok(theirs.length > 30, `${theirs.length} are found`)
  for (const { file, command } of theirs) {
    const [, script = ''] = /^npm (?:run )?([\w:-]+)/.exec(command) ?? []
    t.ok(script in scripts, `${file}: ${command}`)
  }
})
