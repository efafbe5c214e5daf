// What lint holds the code to besides the import zones.
import t from 'tap'
import { refused, refusedWithTypes } from '../support/lint.js'

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
  const rules = (body: string) => refusedWithTypes('test/lint/rules.test.ts', `import t from 'tap'\n${body}`)
  t.same(await rules("t.test('title', async (t) => { t.ok(true) })"), [])
  t.same(await rules("void t.test('title', async (t) => { t.ok(true) })"), [])
  t.same(await rules("t.resolves(Promise.resolve(1), 'title')"), ['@typescript-eslint/no-floating-promises'])
  t.same(await rules('Promise.resolve(t)'), ['@typescript-eslint/no-floating-promises'])
  t.same(await rules('export const value: any = t'), ['@typescript-eslint/no-explicit-any'])
})

t.test('a projection can neither wait for anything nor leave it running: it has rows, and returns nothing', async (t) => {
  const project = (step: string) => refusedWithTypes('projections/catalog.ts', `import type { Projection } from './engine/projection.js'\nexport const project: Projection['project'] = ${step}`)
  t.same(await project("async () => { await fetch('http://127.0.0.1') }"), ['@typescript-eslint/no-misused-promises'])
  t.same(await project("() => { fetch('http://127.0.0.1') }"), ['@typescript-eslint/no-floating-promises'])
  t.same(await project("(event, _place, rows) => { if (event.type === 'VoiceAdded') rows.put({ name: 'voices', key: 'id', columns: { id: 'bigint' } }, { ...event.data }) }"), [])
})
