// The paths in the recipes of docs/adding.md are there.
import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test('every file that docs/adding.md names is there, or is made by the recipe', async (t) => {
  const recipes = await readFile('docs/adding.md', 'utf8')
  const made = [...recipes.matchAll(/new file `([^`]+)`/g)].map(([, path = '']) => path)
  const named = [...recipes.matchAll(/(?<![/\w])(?:src|projections|workers|test|docs)\/[\w./-]+\.\w+/g)].map(([path]) => path)
  t.ok(made.length > 5 && named.length > 20, 'they are found')
  t.same(named.filter((path) => !made.includes(path) && !existsSync(path)), [])
})

t.test('every import of a file that docs/adding.md makes leads to a file', async (t) => {
  const recipes = await readFile('docs/adding.md', 'utf8')
  const made = [...recipes.matchAll(/new file `([^`]+\.ts)`[^]*?```ts\n([^]*?)```/g)]
  const imports = made.flatMap(([, path = '', text = '']) => [...text.matchAll(/'(\.[^']+)\.js'/g)]
    .map(([, to = '']) => join(path, '..', `${to}.ts`)))
  t.ok(imports.length > 15, 'they are found')
  t.same(imports.filter((path) => !existsSync(path) && !made.some(([, each]) => each === path)), [])
})
