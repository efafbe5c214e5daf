// The recipes of docs/adding.md fit the files that they change. A part of `npm run test:long` also runs what they name.
import { cpSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { follow, recipes, recipesIn } from '../support/documents/recipes.js'

for (const { title, steps } of recipes()) {
  t.test(`${title} can be added`, async (t) => {
    const folder = t.testdir()
    for (const step of steps) {
      if ('commands' in step) continue
      const copy = join(folder, step.file)
      if (step.how !== 'new' && !existsSync(copy)) cpSync(step.file, copy, { recursive: true })
      t.doesNotThrow(() => follow(step, folder), step.file)
      if (step.how === 'new') t.notOk(existsSync(step.file), `${dirname(step.file)} has no such file`)
    }
    t.ok(steps.length > 3)
  })
}

t.test('a recipe is refused where it does not say which line, or one that is not there', async (t) => {
  const page = (words: string) => `## A\n\n${words}\n\n\`\`\`ts\nx\n\`\`\`\n`
  t.throws(() => recipesIn(page('Somewhere:')), { message: /no sentence says where this goes/ })
  t.throws(() => recipesIn(`${page('In `src/main.ts` at the end:')}\nafter \`y\``), { message: /nothing goes to/ })
  const folder = t.testdir({ src: { 'main.ts': 'a\nb\nb\n' } })
  for (const line of ['b', 'c']) {
    const [recipe] = recipesIn(page(`In \`src/main.ts\` after \`${line}\`:`))
    t.throws(() => recipe?.steps.forEach((step) => 'file' in step && follow(step, folder)), { message: /exactly one line/ })
  }
})
