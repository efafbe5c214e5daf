// A long answer waits for its reader, and beyond a time is kept in a file, so that nothing else waits.
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { spooled } from '../../../src/http/exports.js'
import { ExportPlaces } from '../../../src/http/limits.js'

const chunk = (n: number) => `${n} `.padEnd(100_000, 'x')
const never = new AbortController().signal

t.test('a reader that does not read holds up the writer: memory has a bound', async (t) => {
  const leaving = new AbortController()
  const { write } = spooled(leaving.signal)
  let written = 0
  const writing = (async () => {
    for (let n = 0; n < 100; n++) {
      await write(chunk(n))
      written++
    }
  })()
  leaving.abort(new Error('gone'))
  await t.rejects(writing, { message: 'gone' })
  t.ok(written < 10, String(written))
})

t.test('beyond the time the rest goes to a file, which has no name, and all arrives in order', async (t) => {
  const { body, write, end } = spooled(never, { slowMs: 20 })
  for (let n = 0; n < 50; n++) await write(chunk(n)) // nobody reads yet
  t.notMatch(await readdir(tmpdir()), [/^ringledger-export-/])
  const ending = end()
  const all = await text(body)
  await ending
  t.equal(all, Array.from({ length: 50 }, (_, n) => chunk(n)).join(''))
})

t.test('an answer that is cut off leaves no file open', async (t) => {
  const { body, write, end, cutOff } = spooled(never, { slowMs: 20 })
  for (let n = 0; n < 50; n++) await write(chunk(n))
  const refused = t.rejects(text(body), { message: 'cut off' })
  await cutOff(new Error('cut off'))
  await refused
  await t.rejects(write('more'), { code: 'EBADF' })
  await t.rejects(end())
})

t.test('who waits for its reader gives way to another one, and loses nothing', async (t) => {
  const places = new ExportPlaces(1, 1_000)
  const release = await places.acquire(never)
  const { body, write, end } = spooled(never, { stall: (giveUp) => places.stall(giveUp) })
  const writing = (async () => { for (let n = 0; n < 50; n++) await write(chunk(n)) })().finally(release)
  const next = await places.acquire(never)
  t.ok(next)
  await writing
  const ending = end()
  t.equal((await text(body)).length, 50 * 100_000)
  await ending
  next?.()
})

t.test('nobody keeps the file for ever', async (t) => {
  const alive = setInterval(() => {}, 1_000) // the deadline alone keeps no process
  t.teardown(() => clearInterval(alive))
  const { body, write, end } = spooled(never, { slowMs: 20, wholeMs: 20 })
  for (let n = 0; n < 50; n++) await write(chunk(n))
  await t.rejects(end(), { name: 'AbortError' })
  t.ok(body.destroyed)
})

t.test('a reader that is quick needs no file', async (t) => {
  const { body, write, end } = spooled(never)
  const reading = text(body)
  for (let n = 0; n < 20; n++) await write(chunk(n))
  await end()
  t.equal((await reading).length, 20 * 100_000)
})
