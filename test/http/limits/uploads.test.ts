// Files are parsed one at a time, user by user, with rests for everybody else.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Uploads } from '../../../src/features/imports/routes.js'

t.test('users take turns, however many files one of them has, and others have theirs', async (t) => {
  const uploads = new Uploads()
  const taken: string[] = []
  let parsingMs = 0
  const parse = async (user: string, turns: number) => {
    const reading = uploads.begin(user)
    for (; turns > 0; turns--) {
      const until = await reading.turn()
      taken.push(user)
      parsingMs += until - performance.now()
    }
    reading.end()
    reading.end()
  }
  const from = performance.now()
  await Promise.all([...Array.from({ length: 5 }, () => parse('heavy', 4)), parse('good', 4)])
  t.strictSame(taken.slice(0, 8).sort(), [...Array(4).fill('good'), ...Array(4).fill('heavy')])
  t.equal(taken.length, 24)
  t.ok(parsingMs < (performance.now() - from) / 2, 'most of the time is for others')
  t.strictSame([uploads.reading('heavy'), uploads.reading('good')], [0, 0])
})

t.test('one that waits for its sender holds up nobody', async () => {
  const uploads = new Uploads()
  for (const user of ['1', '2', '2']) await uploads.begin(user).turn()
  await turn()
})
