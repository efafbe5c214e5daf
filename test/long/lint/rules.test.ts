// What lint holds the code to besides the import zones.
import t from 'tap'
import { ESLint, type Linter } from 'eslint'
import tseslint from 'typescript-eslint'
import { packageRoot } from '../../../src/package-root.js'

// Runs the project's own ESLint configuration on a piece of text, as if it stood in a given file.
// The files of the cases need not exist, so the rules that ask the type checker stay out.
const withoutTypes = new ESLint({
  cwd: packageRoot,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: false } },
    rules: tseslint.configs.disableTypeChecked.rules ?? {}
  }
})
// A program of two files is checked in a third of the time that the whole one takes.
const withTypes = new ESLint({
  cwd: packageRoot,
  overrideConfig: {
    files: ['**/*.ts'],
    languageOptions: {
      parserOptions: {
        projectService: false,
        project: 'test/long/lint/tsconfig.json',
        disallowAutomaticSingleRunInference: true // or with CI=true it takes the file for the text
      }
    }
  }
})

/** The rules that refuse `text` in `filePath`, a file that need not exist; rules that need types are left out. */
async function refused (filePath: string, text: string): Promise<string[]> {
  const [result] = await withoutTypes.lintText(text + '\n', { filePath })
  return rulesOf(result?.messages ?? [])
}

/**
 * The same for each of several lines after a first one, with the typed rules; the file must be one that
 * test/long/lint/tsconfig.json names. One text, because the type checker looks at everything anew for each.
 */
async function refusedByLine (filePath: string, head: string, lines: string[]): Promise<string[][]> {
  const [result] = await withTypes.lintText([head, ...lines, ''].join('\n'), { filePath })
  return lines.map((_, index) => rulesOf(result?.messages.filter(({ line }) => line === index + 2) ?? []))
}

const rulesOf = (messages: Linter.LintMessage[]) => messages.map(({ ruleId, message }) => ruleId ?? message)

t.test('the domain has no clock, no ids and does not wait', async (t) => {
  const file = 'src/features/leads/decide.ts'
  for (const text of [
    'export const now = () => Date.now()',
    'export const now = () => new Date()',
    'export const id = () => Math.random()',
    'export const id = () => crypto.randomUUID()',
    'export const env = () => process.env',
    'export async function decide () {}'
  ]) t.match(await refused(file, text), [/^no-restricted-/], text)
  t.same(await refused(file, 'export const parse = (at: string) => new Date(at)'), [])
})

t.test('a promise may not float, but a subtest may', async (t) => {
  const cases: Record<string, string[]> = {
    "t.test('title', async (t) => { t.ok(true) })": [],
    "void t.test('title', async (t) => { t.ok(true) })": [],
    "t.resolves(Promise.resolve(1), 'title')": ['@typescript-eslint/no-floating-promises'],
    'Promise.resolve(t)': ['@typescript-eslint/no-floating-promises'],
    'export const value: any = t': ['@typescript-eslint/no-explicit-any']
  }
  t.same(
    await refusedByLine('test/long/lint/rules.test.ts', "import t from 'tap'", Object.keys(cases)), Object.values(cases)
  )
})

t.test('a projection can neither wait for anything nor leave it running: it returns nothing', async (t) => {
  const table = "{ name: 'voices', key: 'id', columns: { id: 'bigint' } }"
  const cases: Record<string, string[]> = {
    "async () => { await fetch('http://127.0.0.1') }": ['@typescript-eslint/no-misused-promises'],
    "() => { fetch('http://127.0.0.1') }": ['@typescript-eslint/no-floating-promises'],
    [`(event, _place, rows) => { if (event.type === 'VoiceAdded') rows.put(${table}, { ...event.data }) }`]: []
  }
  const head = "import type { Projection } from './folding/projection.js'"
  const lines = Object.keys(cases).map((step, index) => `export const project${index}: Projection['project'] = ${step}`)
  t.same(await refusedByLine('projections/catalog.ts', head, lines), Object.values(cases))
})

t.test('a line has at most 120 columns and one statement, a function 80 lines, a file 500', async (t) => {
  const lines = (length: number, line: string) => Array.from({ length }, () => line).join('\n')
  const width = (columns: number) => `export const ${'x'.repeat(columns - 'export const  = 1'.length)} = 1`
  const whole = (length: number) => `export function told (give) {\n${lines(length - 2, '  give()')}\n}`
  const cases: Array<[text: string, rules: string[]]> = [
    [width(120), []],
    [width(121), ['@stylistic/max-len']],
    [`export const told = '${'x'.repeat(120)}'`, []],
    [whole(80), []],
    [whole(81), ['max-lines-per-function']],
    [lines(500, 'give()'), []],
    [lines(501, 'give()'), ['max-lines']],
    ['give(); give()', ['house/one-statement-a-line']],
    ['export const told = () => { give(); give() }', ['house/one-statement-a-line']],
    ['switch (told) {\n  case 1: give(); give()\n}', ['house/one-statement-a-line']],
    ['switch (told) {\n  case 1: give(); break\n}', []],
    ['if (told) give()\n;[told].forEach(() => { give() })', []]
  ]
  for (const [text, rules] of cases) {
    const found = (await refused('src/features/leads/decide.ts', text)).filter((rule) => /max-|house/.test(rule))
    t.same(found, rules, text.slice(0, 60))
  }
})
