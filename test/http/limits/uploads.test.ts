// Files are parsed two at a time, and give others their turn.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Uploads } from '../../../src/http/limits/uploads.js'

t.test('two are parsed at once, and every one gets its turn', async (t) => {
  const uploads = new Uploads()
  let [parsing, most] = [0, 0]
  const parse = async () => {
    const turns = uploads.turns()
    for (let row = 0; row < 400; row++) {
      const waiting = turns.next()
      if (waiting) {
        if (row > 0) parsing--
        await waiting
        most = Math.max(most, ++parsing)
      }
      const until = performance.now() + 0.1
      while (performance.now() < until); // parses
    }
    parsing--
    turns.end()
  }
  const uploading = Promise.all(Array.from({ length: 5 }, parse))
  let turns = 0
  let isOver = false
  void uploading.then(() => { isOver = true })
  for (; !isOver; turns++) await turn()
  await uploading
  t.ok(most <= 2, `${most} at once`)
  t.ok(turns > 5 * 400 * 0.1 / 20, 'others had their turns')
})

t.test('one that waits for its sender holds up nobody', async () => {
  const uploads = new Uploads()
  for (let n = 0; n < 3; n++) await uploads.turns().next()
})
