// Every command that a document names is there, with its options. What they do is tried by the tests of each.
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { allCommands, alternatives, commandProblems, commandsIn, commandsInTable, type Named } from '../support/documents/commands.js'

const files = [
  'README.md', 'CONTRIBUTING.md', 'bench/README.md', 'examples/README.md',
  ...readdirSync('docs').filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
]
const named = files.flatMap((file): Named[] => commandsIn(file, readFileSync(file, 'utf8')))
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const problemsWith = await commandProblems()

/** Of the recipes for what is not there. */
const madeUp = ['ringledger catalog voices']

t.test('every command of ringledger that a document names is there, with the options that it names', async (t) => {
  const ours = named.filter(({ command }) => command.startsWith('ringledger'))
  t.ok(ours.length > 100, `${ours.length} are found`)
  for (const { file, command } of ours) {
    if (!madeUp.some((start) => command.startsWith(start))) t.same(problemsWith(command), [], `${file}: ${command}`)
  }
})

t.test('the table of commands in the README is the command line', async (t) => {
  const rows = commandsInTable('README.md', readFileSync('README.md', 'utf8'))
  t.ok(rows.length > 25, `${rows.length} are found`)
  for (const { command } of rows) t.same(problemsWith(command), [], command)
  const shown = rows.flatMap(({ command }) => alternatives(command.split(' '))).map((words) => words.join(' '))
  const isShown = (command: string) => shown.some((each) => `${each} `.startsWith(`${command} `))
  t.same((await allCommands()).filter((command) => !isShown(command)), [], 'that the table leaves out')
})

t.test('every script of npm that a document names is there, and its program knows the options', async (t) => {
  const theirs = named.filter(({ command }) => command.startsWith('npm'))
  t.ok(theirs.length > 30, `${theirs.length} are found`)
  for (const { file, command } of theirs) {
    const [, script = ''] = /^npm (?:run )?([\w:-]+)/.exec(command) ?? []
    if (!t.ok(script in scripts, `${file}: ${command}`)) continue
    const options = [...(command.split(' -- ')[1] ?? '').matchAll(/--([a-z-]+)/g)].map(([, option = '']) => option)
    const program = optionsText(scripts[script] ?? '')
    for (const option of options) t.match(program, new RegExp(`\\b${option}\\b|\\b${camel(option)}\\b`), `${file}: ${command}`)
  }
})

t.test('a command that is not there is told, and so is an option', async (t) => {
  t.same(problemsWith('ringledger projections replace leads'), ['projections has no command replace'])
  t.same(problemsWith('ringledger projections replay leads --quick'), ['replay has no option --quick'])
  t.same(problemsWith('ringledger webhooks list|lost --json'), ['webhooks has no command lost'])
  t.same(problemsWith('ringledger projections replay leads --dry-run'), [])
  const text = '```bash\nTOKEN=$(npx ringledger token --user 1) # x\n```\n\n    ringledger ids check | cat\n\nand `npm run demo`.\n'
  t.same(commandsIn('a.md', text).map(({ command }) => command), ['ringledger token --user 1', 'ringledger ids check', 'npm run demo'])
})

/** The sources that read the options of a script. */
function optionsText (script: string): string {
  const [, program = ''] = /dist\/(\S+)\.js/.exec(script) ?? []
  const places = program === '' ? [] : [`${program}.ts`, ...filesBelow(program), ...filesBelow(program.replace(/\/[^/]+$/, ''))]
  return places.map((file) => readFileSync(file, 'utf8')).join('\n')
}

function filesBelow (folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}

const camel = (option: string) => option.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())
