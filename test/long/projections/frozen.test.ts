// A projector that is frozen past its lease is replaced within five seconds, and its late writes are refused.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { projectorRig } from './projector-rig.js'

const { startRunner, something, writing, rowsAreTheFold, expireLease, claimedBy, standby, reached } =
  await projectorRig(t)

/** Before a batch is written, before its ids are noted, and before it is looked what has to wait. */
const points = ['^WITH moved AS', '^WITH raised AS', '^WITH wanted AS']

for (const at of points) {
  t.test(`frozen before ${at} it is replaced within five seconds, and its late writes are refused`, async (t) => {
    const frozen = startRunner({ signal: 'SIGSTOP', at, nth: 2 })
    await eventually(() => frozen.said.some((line) => line.message === 'owns'))
    const stopStandby = standby(t)
    const stop = writing(t)
    await eventually(() => frozen.said.some((line) => line.at !== undefined))
    const frozenAt = performance.now()
    const epoch = await claimedBy()
    if (at !== points[0]) await expireLease() // once its end is waited for
    await eventually(async () => await claimedBy() > epoch)
    const ms = Math.round(performance.now() - frozenAt)
    t.ok(ms < 5_000, `replaced after ${ms} ms`)
    await reached(await stop())
    await rowsAreTheFold(t, 'the standby has everything')
    frozen.signal('SIGCONT')
    const stopped =
      await eventually(() => frozen.said.find(({ message }) => message?.startsWith('consumer stopped')) ?? false)
    t.equal(stopped.error, 'Fenced', String(stopped.reason))
    await reached(await something())
    await rowsAreTheFold(t, 'it changed nothing')
    frozen.signal('SIGKILL')
    await frozen.ended
    await stopStandby()
    await expireLease()
  })
}
