// When a delivery is tried again, by what came of an attempt.
import t from 'tap'
import {
  defaultSchedule, judge, outcomeOf, parseSchedule, type Result, type Stage, withJitter
} from '../../../src/features/webhooks/outcome.js'

const now = Date.UTC(2026, 0, 31, 12)
const minute = 60_000
const schedule = [0, 5_000, 5 * minute, 24 * 60 * minute]
const answer = (status: number, retryAfter?: string): Result =>
  ({ kind: 'answer', status, retryAfter, excerpt: '', truncated: false })
const failure = (stage: Stage): Result => ({ kind: 'failure', stage, message: 'no' })
const hour = 60 * minute
const circumstances = { schedule, failures: 0, ageMs: 0, now, random: 0.5 }
const judged = (result: Result, failures = 0) => judge(result, { ...circumstances, failures }).verdict

t.test('an attempt delivers, ends the delivery, or is followed by another after the next wait of the schedule', async (t) => {
  const next = { status: 'retry', inMs: 5_000 }
  const [answered, stages] = [[300, 302, 308, 400, 401, 404, 500, 503], ['blocked', 'dns', 'connect', 'tls', 'connection'] as const]
  for (const [result, failures, verdict, outcome] of [
    ...[200, 202, 204, 299].map((status) => [answer(status, '3600'), 0, { status: 'delivered' }, 'delivered'] as const),
    ...answered.map((status) => [answer(status), 0, next, 'rejected'] as const),
    ...stages.map((stage) => [failure(stage), 0, next, stage] as const),
    ...[answer(502), answer(504), failure('timeout')].flatMap((slow) => [
      [slow, 0, { status: 'retry', inMs: minute }], [slow, 1, { status: 'retry', inMs: 5 * minute }]
    ] as const),
    [answer(410), 0, { status: 'cancelled', reason: 'gone' }, 'gone'],
    [answer(500), 2, { status: 'retry', inMs: 24 * 60 * minute }],
    [answer(500), 3, { status: 'exhausted', reason: 'attempts_used_up' }],
    [answer(200), 3, { status: 'delivered' }]
  ] as const) {
    t.same(judged(result, failures), verdict)
    if (outcome) t.equal(outcomeOf(result), outcome)
  }
})

t.test('some results use up an attempt, some count as a failure', async (t) => {
  const uses = (result: Result) => {
    const { usesAttempt, fails } = judge(result, circumstances)
    return [usesAttempt, fails]
  }
  t.same(uses(answer(204)), [false, false])
  t.same(uses(answer(429, '1')), [false, false])
  t.same(uses(answer(503, '1')), [false, true])
  for (const result of [answer(503), answer(500), answer(410), failure('timeout')]) t.same(uses(result), [true, true])
})

t.test('a pause exhausts no delivery until its schedule is 76 hours old', async (t) => {
  const aged = (ageMs: number) => judge(answer(429), { ...circumstances, failures: 3, ageMs }).verdict
  t.same(aged(76 * hour - 1), { status: 'retry', inMs: minute })
  t.same(aged(76 * hour), { status: 'exhausted', reason: 'expired' })
})

t.test('a 429, and a 503 that says how long, pause the webhook, from a second to 15 minutes', async (t) => {
  const paused = (status: number, retryAfter?: string, failures = 0) => {
    const { pause, verdict } = judge(answer(status, retryAfter), { ...circumstances, failures })
    if (pause) t.same(verdict, { status: 'retry', inMs: pause.inMs }, 'the delivery is due when the pause ends')
    return pause && [pause.inMs, pause.reason]
  }
  t.same(paused(429), [minute, 'too_many_requests'])
  t.same(paused(429, 'soon'), [minute, 'too_many_requests'])
  t.same(paused(429, '86400'), [15 * minute, 'too_many_requests'])
  t.same(paused(503, '120'), [2 * minute, 'unavailable'])
  t.same(paused(429, '30', 8), [30_000, 'too_many_requests'])
  for (const past of ['0', new Date(now - minute).toUTCString()]) t.same(paused(503, past), [1_000, 'unavailable'], past)
  const dates = ['Sat, 31 Jan 2026 12:10:00 GMT', 'Saturday, 31-Jan-26 12:10:00 GMT', 'Sat Jan 31 12:10:00 2026']
  for (const date of dates) {
    t.same(paused(503, date), [10 * minute, 'unavailable'], `${date}, whatever this machine's time zone is`)
  }
  for (const given of ['9'.repeat(400), 'Fri, 31 Jan 9999 12:10:00 GMT']) {
    t.same(paused(503, given), [15 * minute, 'unavailable'], 'no number is too large')
  }
  for (const [status, retryAfter] of [[503], [500, '120'], [502, '120'], [200, '120']] as const) {
    t.equal(paused(status, retryAfter), undefined, `${status} ${retryAfter}`)
  }
  t.equal(judge(failure('timeout'), circumstances).pause, undefined)
})

t.test('a Retry-After that is not readable is none', async (t) => {
  const odd = [
    '-1', '+60', '1.5', '60, 120', '', 'soon', 'Infinity', '1e3', '0x10', '\u0664\u0665', 'Mon, 99 Foo 2026 00:00:00 GMT',
    'Sat, 31 Jan 2026 12:10:00 +0100', 'Sat, 31 Jan 2026 12:10:00', '2026-01-31T12:10:00Z'
  ]
  for (const header of odd) t.same(judged(answer(503, header)), { status: 'retry', inMs: 5_000 }, header)
})

t.test('the default schedule is the one of Standard Webhooks: ten attempts over 75 h 35 min and 5 s', async (t) => {
  const waits = parseSchedule(defaultSchedule)
  t.equal(waits.length, 10)
  t.equal(waits.reduce((sum, wait) => sum + wait, 0), ((75 * 60 + 35) * 60 + 5) * 1_000)
})

t.test('a schedule lists waits with a unit', async (t) => {
  t.same(parseSchedule('0s, 250ms,5s,2m,1h,1d'), [0, 250, 5_000, 120_000, 3_600_000, 86_400_000])
  const wrong = ['', '5', '5s,', '-5s', '1.5s', '5s;6s', '31d', 'constructor', '1s,'.repeat(50) + '1s']
  for (const text of wrong) t.throws(() => parseSchedule(text), /^must /, text.slice(0, 20))
})

t.test('jitter moves a wait by up to 20 % to either side', async (t) => {
  t.same([0, 0.5, 0.999].map((random) => withJitter(10_000, random)), [8_000, 10_000, 11_996])
})
