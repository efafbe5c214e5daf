// The recipes of docs/adding.md fit the files that they change. A part of `npm run test:long` also runs what they name.
import { cpSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { follow, recipes } from '../support/documents/recipes.js'

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
