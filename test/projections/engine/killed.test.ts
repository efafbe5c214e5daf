// A projector that is killed, wherever it is: rows are the fold of the log up to the checkpoint, and the next one goes on.
import { randomInt } from 'node:crypto'
import t from 'tap'
import { runnerPoints } from '../../support/fault-points.js'
import { projectorRig } from '../../support/projector-rig.js'

t.setTimeout(300_000) // it starts many processes, and other tests run beside it
const { startRunner, writing, rowsAreTheFold, expireLease, standby, reached } = await projectorRig(t)

t.test('killed at any point while events come in, and the next one goes on', async (t) => {
  const stop = writing(t)
  let before = 0n
  for (const point of runnerPoints) {
    const nth = point === 'opened' || point === 'claimed' ? 1 : randomInt(1, 4)
    const runner = startRunner('SIGKILL', point, nth)
    t.equal(await runner.ended, 'SIGKILL', `${point}, time ${nth}`)
    t.match(runner.said.at(-1), { at: point })
    const position = await rowsAreTheFold(t, `rows and checkpoint agree after a death at: ${point}`)
    t.ok(position >= before, 'the checkpoint never goes back')
    before = position
    await expireLease()
  }
  const stopStandby = standby(t)
  await reached(await stop())
  await rowsAreTheFold(t, 'in the end everything is there')
  await stopStandby()
})
