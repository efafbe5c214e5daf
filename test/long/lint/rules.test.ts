// What lint holds the code to besides the import zones.
import t from 'tap'
import { refused, refusedByLine } from '../../support/lint/lint.js'

t.test('the domain has no clock, no ids and does not wait', async (t) => {
  const file = 'src/domain/lead/decide.ts'
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
  const head = "import type { Projection } from '../folding/projection.js'"
  const lines = Object.keys(cases).map((step, index) => `export const project${index}: Projection['project'] = ${step}`)
  t.same(await refusedByLine('projections/catalog/catalog.ts', head, lines), Object.values(cases))
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
    const found = (await refused('src/domain/lead/decide.ts', text)).filter((rule) => /max-|house/.test(rule))
    t.same(found, rules, text.slice(0, 60))
  }
})
