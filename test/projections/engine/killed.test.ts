// A projector that is killed at any statement: rows are the fold up to the checkpoint, and the next one goes on.
import { randomInt } from 'node:crypto'
import t, { type Test } from 'tap'
import { isInFull } from '../../support/chaos.js'
import { eventually } from '../../support/eventually.js'
import { projectorRig } from '../../support/projections/projector-rig.js'
import { distinct, exactly } from '../../support/postgres/statements.js'

t.setTimeout(300_000) // it starts many processes, and other tests run beside it
const { startRunner, writing, rowsAreTheFold, expireLease, standby, reached } = await projectorRig(t)

/** A batch that is written, one that is refused and written event by event, and the commit. */
const usualPoints = ['^INSERT INTO read_assistants_g1', '^ROLLBACK TO SAVEPOINT', '^COMMIT$']

/** Every statement that a projector sends while events come in that it takes, refuses and parks. */
async function everyPoint (t: Test): Promise<string[]> {
  const runner = startRunner({})
  const sent = () => runner.said.flatMap(({ sends }) => sends ?? [])
  await eventually(() => ['^ROLLBACK TO SAVEPOINT', '^SELECT ledger.raise_ids']
    .every((like) => sent().some((one) => new RegExp(like).test(one))))
  await eventually(() => sent().filter((one) => one === 'COMMIT').length > 20)
  runner.signal('SIGKILL')
  await runner.ended
  await expireLease()
  t.ok(distinct(sent()).length >= 12, `${distinct(sent()).length} statements`)
  return distinct(sent()).map(exactly)
}

t.test('killed before any statement while events come in, and the next one goes on', async (t) => {
  const stop = writing(t)
  let before = 0n
  for (const at of isInFull ? await everyPoint(t) : usualPoints) {
    const nth = /epoch|leases|circuit/.test(at) ? 1 : randomInt(1, 4) // those are sent once
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
