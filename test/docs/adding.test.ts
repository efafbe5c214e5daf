// What newcomers read is true: the picture of the rooms, and the paths in the recipes.
import { readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pictureOfRooms } from '../support/documents/rooms.js'

const file = 'CONTRIBUTING.md'
const picture = /(?<=<!-- rooms: npm run docs:rooms -->\n```mermaid\n)[^]*?(?=\n```\n<!-- end of rooms -->)/
const drawn = await pictureOfRooms()
if (process.env.TAP_SNAPSHOT === '1') {
  await writeFile(file, (await readFile(file, 'utf8')).replace(picture, () => drawn))
}

t.test('the picture of the rooms shows the imports that there are; npm run docs:rooms draws it anew', async (t) => {
  const [shown] = picture.exec(await readFile(file, 'utf8')) ?? []
  t.equal(shown, drawn, 'CONTRIBUTING.md is out of date: npm run docs:rooms draws the picture anew')
  t.ok(drawn.split('-->').length - 1 <= 55, 'and stays readable')
})

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
  t.ok(imports.length > 20, 'they are found')
  t.same(imports.filter((path) => !existsSync(path) && !made.some(([, each]) => each === path)), [])
})
