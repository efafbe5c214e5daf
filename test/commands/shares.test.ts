// How much of something an owner has at once: others wait in turn, and no owner waits for another.
import t from 'tap'
import { Shares } from '../../src/commands/shares.js'

const patient = 60_000

t.test('many may wait without anybody who leaves', async (t) => {
  const warnings: Error[] = []
  const warned = (warning: Error) => { warnings.push(warning) }
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const shares = new Shares(1, patient)
  const release = await shares.acquire('1')
  const waiting = Array.from({ length: 20 }, async () => (await shares.acquire('1'))?.())
  release?.()
  await Promise.all(waiting)
  t.strictSame(warnings, [])
})
