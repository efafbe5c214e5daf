// Files are parsed and written one at a time, user by user.
import t from 'tap'
import { Uploads } from '../../../src/features/imports/routes.js'

t.test('users take turns, however many files one of them has, and others have theirs', async (t) => {
  const uploads = new Uploads()
  const taken: string[] = []
  const parse = async (user: string, turns: number) => {
    const reading = uploads.begin(user)
    for (; turns > 0; turns--) {
      await reading.turn()
      taken.push(user)
    }
    reading.end()
  }
  await Promise.all([...Array.from({ length: 5 }, () => parse('heavy', 4)), parse('good', 4)])
  t.strictSame(taken.slice(0, 8).sort(), [...Array(4).fill('good'), ...Array(4).fill('heavy')])
})
