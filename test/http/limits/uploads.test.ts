// Files are parsed and written one at a time, user by user, with rests for everybody else.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import fastify from 'fastify'
import { Uploads } from '../../../src/features/imports/routes.js'
import { sendExport } from '../../../src/http/exports.js'
import { registerReadSlots } from '../../../src/http/limits.js'

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

t.test('exports rest as long together as one of them, and others have most of the time', async (t) => {
  const app = fastify()
  registerReadSlots(app)
  const [rows, rowMs] = [100, 0.3]
  const made: number[] = []
  const makeRow = () => {
    made.push(performance.now())
    for (const until = performance.now() + rowMs; performance.now() < until;);
    return 'x'.repeat(4_000)
  }
  app.get('/', (request, reply) => sendExport(
    request, reply, { format: 'csv', bom: false }, { name: 'rows', columns: [['row', makeRow]] },
    async (visit) => await visit(Array(rows).fill({}))))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const texts = await Promise.all([1, 2, 3].map(async () => await (await fetch(url)).text()))
  t.ok(texts.every((text) => text.length > rows * 4_000))
  t.equal(made.length, 3 * rows)
  t.ok((made.at(-1) ?? 0) - (made[0] ?? 0) > 3 * made.length * rowMs)
})
