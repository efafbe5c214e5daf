import t from 'tap'
import { defaultSchedule, parseSchedule, withJitter } from '../../../src/features/webhooks/outcome.js'
import { fc } from '../../support/fuzz/property.js'

t.test('the default schedule is the one of Standard Webhooks: ten attempts over 75 h 35 min and 5 s', async (t) => {
  const waits = parseSchedule(defaultSchedule)
  t.equal(waits.length, 10)
  t.equal(waits.reduce((sum, wait) => sum + wait, 0), ((75 * 60 + 35) * 60 + 5) * 1_000)
})

t.test('a schedule lists waits with a unit', async (t) => {
  t.same(parseSchedule('0s, 250ms,5s,2m,1h,1d'), [0, 250, 5_000, 120_000, 3_600_000, 86_400_000])
})

for (const wrong of ['', '5', '5s,', '-5s', '1.5s', '5 s', '5s;6s', '31d', '9999999999s', 'constructor', Array(51).fill(
  '1s'
).join()]) {
  t.test(`"${wrong.slice(0, 20)}" is no schedule`, async (t) => {
    t.throws(() => parseSchedule(wrong), /^must /)
  })
}

t.test('jitter stays within 20 % to either side', async () => {
  fc.assert(fc.property(fc.nat(86_400_000), fc.double({
    min: 0, max: 1, maxExcluded: true, noNaN: true
  }), (ms, random) => {
    const jittered = withJitter(ms, random)
    return jittered >= Math.floor(ms * 0.8) && jittered <= Math.ceil(ms * 1.2)
  }))
})
