// A body that the process has just written is not read again, and none stays in memory.
import t from 'tap'
import { FreshBodies } from '../../../workers/deliveries/fresh-bodies.js'
import { startAttempts } from '../../../workers/deliveries/attempts/start.js'
import { eventually } from '../../support/eventually.js'
import { queued, startOf } from './queued-attempts.js'

t.test('a start sends the body that is known, if it has as many bytes as that of the delivery', async (t) => {
  const { pool, deliveries } = await queued(t, 3)
  const bodies = (await deliveries()).map(({ body }) => String(body))
  const known = bodies[0]?.replaceAll(/[a-z]/g, 'é').slice(0, 10) ?? ''
  const same = known + 'x'.repeat(Buffer.byteLength(bodies[0] ?? '') - Buffer.byteLength(known))
  const starts = [startOf(0), startOf(1), startOf(2)]
  const given = [same, `${bodies[1]} `, undefined]
  const started = await startAttempts(pool, starts.map((start, nth) => Object.assign(start, { body: given[nth] })))
  t.same(starts.map((start) => started.get(start)?.attempt?.body.toString()), [same, bodies[1], bodies[2]])
})

t.test('each is given once, the oldest make room, and one that is larger than all room is not kept', async (t) => {
  const bodies = new FreshBodies()
  bodies.keep('first', 'x'.repeat(2 ** 20))
  t.equal(bodies.take('first')?.length, 2 ** 20)
  t.equal(bodies.take('first'), undefined)
  for (let n = 0; n < 20; n++) bodies.keep(`${n}`, 'x'.repeat(2 ** 20))
  const kept = Array.from({ length: 20 }, (_, n) => n).filter((n) => bodies.take(`${n}`) !== undefined)
  t.same(kept, [16, 17, 18, 19])
  bodies.keep('huge', 'x'.repeat(5 * 2 ** 20))
  t.equal(bodies.take('huge'), undefined)
})

t.test('what nobody takes is forgotten', async (t) => {
  const bodies = new FreshBodies(10)
  for (const id of ['a', 'b']) bodies.keep(id, 'body')
  t.equal(bodies.size, 2)
  await eventually(() => bodies.size === 0)
})
