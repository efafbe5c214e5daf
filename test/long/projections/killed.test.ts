// A projector that is killed at any statement: rows are the fold up to the checkpoint, and the next one goes on.
import { randomInt } from 'node:crypto'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.js'
import { projectorRig } from './projector-rig.js'
import { distinct, exactly } from '../../support/postgres/statements.js'

t.setTimeout(2_400_000) // it starts many processes, and other tests run beside it
const { startRunner, writing, rowsAreTheFold, expireLease, standby, reached } = await projectorRig(t)

interface Point { at: string, times: number }

/** A batch or a part of one; one with something to park; and the look at what waits. */
const usualPoints: Point[] = ['^WITH moved AS', '^WITH moved AS .*INSERT INTO ledger.parked_events', '^WITH wanted AS']
  .map((at) => ({ at, times: 3 }))

/** Every statement that a projector sends while events come in that it takes, refuses and parks, and how often. */
async function everyPoint (t: Test): Promise<Point[]> {
  const runner = startRunner({})
  const sent = () => runner.said.flatMap(({ sends }) => sends ?? [])
  await eventually(() => ['^WITH wanted AS', '^WITH raised AS']
    .every((like) => sent().some((one) => new RegExp(like).test(one))))
  await eventually(() => sent().filter((one) => /^WITH moved AS/.test(one)).length > 20, 60_000)
  runner.signal('SIGKILL')
  await runner.ended
  await expireLease()
  t.ok(distinct(sent()).length >= 8, `${distinct(sent()).length} statements`)
  const points = distinct(sent()).filter((one) => !/^WITH moved AS/.test(one)) // it names the tables that it changes
  return points.map((one) => ({ at: exactly(one), times: sent().filter((other) => other === one).length }))
}

t.test('killed before any statement while events come in, and the next one goes on', async (t) => {
  const stop = writing(t)
  let before = 0n
  for (const { at, times } of [...usualPoints, ...await everyPoint(t)]) {
    const nth = randomInt(Math.min(times, 3)) + 1
    const runner = startRunner({ signal: 'SIGKILL', at, nth })
    t.equal(await runner.ended, 'SIGKILL', `${at}, time ${nth}`)
    t.match(runner.said.at(-1)?.at, new RegExp(at))
    const position = await rowsAreTheFold(t, `rows and checkpoint agree after a death before: ${at}`)
    t.ok(position >= before, 'the checkpoint never goes back')
    before = position
    await expireLease()
  }
  const stopStandby = standby(t)
  await reached(await stop())
  await rowsAreTheFold(t, 'in the end everything is there')
  await stopStandby()
})
