// What a soak asserts of what it has measured, and how it paces its load.
import t from 'tap'
import { steadily } from '../../bench/soak/load.js'
import { thirdsOf } from '../../bench/soak/memory.js'
import { phaseOf, problemsOf, type Soaked } from '../../bench/soak/verdict.js'

const phase = (p99: number, failures: string[] = []) => ({ requests: 100, p50: 1, p99, failures })
const grown = (by: number) => ({ name: 'api', first: 100, last: 100 + by, most: 330 })
const sound: Soaked = {
  minutes: 20,
  top: 100,
  rate: 50,
  calm: phase(100),
  beset: phase(200),
  webhooks: { reported: 5, arrived: 5 },
  memory: [grown(30)],
  hostile: {}
}

t.test('what holds has no problem', async (t) => {
  t.strictSame(problemsOf(sound), [])
  t.strictSame(problemsOf({ ...sound, calm: phase(10), beset: phase(149) }), [], 'nobody notices that')
  t.strictSame(problemsOf({ ...sound, minutes: 2, beset: phase(900) }), [], 'a short soak does not judge the p99')
  t.strictSame(problemsOf({ ...sound, minutes: 2, memory: [grown(90)] }), [], 'and sees caches that fill')
})

t.test('each thing that does not hold is named', async (t) => {
  const problems = problemsOf({
    ...sound,
    calm: phase(100, ['GET /user/leads: 500']),
    beset: phase(201),
    webhooks: { reported: 5, arrived: 4 },
    memory: [grown(65)]
  })
  t.match(problems, [
    /failed: GET \/user\/leads: 500/, /p99 .* is 201 ms, more than 200 ms/, /of 5 webhooks .* 4 came/,
    /the memory of api grew from 100 to 165 MiB/
  ])
  t.match(problemsOf({ ...sound, minutes: 2, memory: [grown(101)] }), [/the memory of api grew from 100 to 201 MiB/])
})

t.test('percentiles are medians over the windows, so that one disturbance decides nothing', async (t) => {
  const window = (latency: number) => ({ done: 3, latencies: [latency, latency, latency], failures: [] })
  t.match(phaseOf([window(900), window(10), window(800), window(20)], 1), { requests: 12, p50: 20, p99: 20 })
})

t.test('a steady load counts from when a piece was due, and failures by what was thrown', async (t) => {
  let n = 0
  const { done, failures, latencies } = await steadily(async () => {
    if (n++ % 2) throw new Error('odd')
  }, 100, 0.2)
  t.equal(done, 10)
  t.equal(latencies.length, 10)
  t.strictSame(failures, Array.from({ length: 10 }, () => 'Error: odd'))
})

t.test('what Postgres takes is what its samples come down to in the first and in the last third', async (t) => {
  t.strictSame(thirdsOf([100, 130, 500, 500, 165, 200]), [100, 165])
})
