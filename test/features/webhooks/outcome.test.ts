import t from 'tap'
import {
  outcomeOf, pauseOf, type Result, type Stage, usesAttempt, verdictOf
} from '../../../src/features/webhooks/outcome.js'
import { fc } from '../../support/fuzz/property.js'

const now = Date.UTC(2026, 0, 31, 12)
const minute = 60_000
const schedule = [0, 5_000, 5 * minute, 24 * 60 * minute]
const answer = (status: number, retryAfter?: string): Result =>
  ({ kind: 'answer', status, retryAfter, excerpt: '', truncated: false })
const failure = (stage: Stage): Result => ({ kind: 'failure', stage, message: 'no' })
const hour = 60 * minute
const circumstances = { schedule, failures: 0, ageMs: 0, now, random: 0.5 }
const judged = (result: Result, failures = 0) => verdictOf(result, { ...circumstances, failures })

t.test('2xx delivers, whatever else is said', async (t) => {
  for (const status of [200, 201, 202, 204, 299]) t.same(judged(answer(status, '3600')), { status: 'delivered' })
})

t.test('410 ends the delivery', async (t) => {
  t.same(judged(answer(410)), { status: 'cancelled', reason: 'gone' })
  t.equal(outcomeOf(answer(410)), 'gone')
})

t.test('a redirect, a client error and a server error are failures that are tried again', async (t) => {
  for (const status of [300, 301, 302, 307, 308, 400, 401, 404, 500, 503]) {
    t.same(judged(answer(status)), { status: 'retry', inMs: 5_000 })
    t.equal(outcomeOf(answer(status)), 'rejected')
  }
})

t.test('a failure without an answer is named by where it happened and tried again', async (t) => {
  for (const stage of ['blocked', 'dns', 'connect', 'tls', 'connection'] as const) {
    t.same(judged(failure(stage)), { status: 'retry', inMs: 5_000 })
    t.equal(outcomeOf(failure(stage)), stage)
  }
})

t.test('429, 502, 504 and a time-out wait a minute at least', async (t) => {
  for (const result of [answer(429), answer(502), answer(504), failure('timeout')]) {
    t.same(judged(result), { status: 'retry', inMs: minute })
    t.same(judged(result, 1), { status: 'retry', inMs: 5 * minute })
  }
})

t.test('the last attempt of the schedule exhausts the delivery', async (t) => {
  t.same(judged(answer(500), 2), { status: 'retry', inMs: 24 * 60 * minute })
  t.same(judged(answer(500), 3), { status: 'exhausted', reason: 'attempts_used_up' })
  t.same(judged(answer(200), 3), { status: 'delivered' })
})

t.test('a 429 uses up no attempt, until the delivery is 76 hours old', async (t) => {
  t.equal(usesAttempt({ outcome: 'rejected', statusCode: 429 }), false)
  t.equal(usesAttempt({ outcome: 'rejected', statusCode: 503 }), true)
  t.equal(usesAttempt({ outcome: 'timeout', statusCode: null }), true)
  t.equal(usesAttempt({ outcome: 'unknown', statusCode: null }), false)
  const aged = (ageMs: number) => verdictOf(answer(429), { ...circumstances, failures: 3, ageMs })
  t.same(aged(76 * hour - 1), { status: 'retry', inMs: 24 * hour }, 'at the end of the schedule its last wait again')
  t.same(aged(76 * hour), { status: 'exhausted', reason: 'expired' })
})

t.test('a 429, and a 503 that says how long, pause the whole endpoint', async (t) => {
  const paused = (status: number, retryAfter?: string, failures = 0) =>
    pauseOf(answer(status, retryAfter), { ...circumstances, failures })
  t.same(paused(429), { inMs: minute, reason: 'too_many_requests' })
  t.same(paused(429, '30'), { inMs: 30_000, reason: 'too_many_requests' })
  t.same(paused(429, '1'), { inMs: 5_000, reason: 'too_many_requests' })
  t.same(paused(429, '86400'), { inMs: 15 * minute, reason: 'too_many_requests' })
  t.same(paused(429, 'soon'), { inMs: minute, reason: 'too_many_requests' })
  t.same(paused(503, '120'), { inMs: 2 * minute, reason: 'unavailable' })
  for (const past of ['0', new Date(now - minute).toUTCString()]) {
    t.same(paused(503, past), { inMs: 5_000, reason: 'unavailable' }, `${past}: for the first wait of the schedule`)
    t.same(paused(429, past), { inMs: 5_000, reason: 'too_many_requests' }, past)
  }
  for (const failures of [1, 2, 8]) {
    t.same(paused(503, '2', failures), { inMs: 5_000, reason: 'unavailable' }, 'an old delivery pauses no longer')
    t.same(paused(429, '30', failures), { inMs: 30_000, reason: 'too_many_requests' })
  }
  for (const [status, retryAfter] of [[503], [503, 'soon'], [500, '120'], [502, '120'], [200, '120']] as const) {
    t.equal(paused(status, retryAfter), undefined, `${status} ${retryAfter}`)
  }
  t.equal(pauseOf(failure('timeout'), circumstances), undefined)
})

t.test('Retry-After is honoured between the base and the larger of twice the base and 15 minutes', async (t) => {
  const retryAfter = (header: string, failures: number) => judged(answer(503, header), failures)
  t.same(retryAfter('30', 0), { status: 'retry', inMs: 30_000 })
  t.same(retryAfter('1', 0), { status: 'retry', inMs: 5_000 }, 'not sooner than the base')
  t.same(retryAfter('315360000', 0), { status: 'retry', inMs: 15 * minute }, 'ten years are 15 minutes')
  t.same(retryAfter('315360000', 2), { status: 'retry', inMs: 48 * 60 * minute }, 'or twice the base')
  t.same(retryAfter(new Date(now + 10 * minute).toUTCString(), 0), {
    status: 'retry', inMs: 10 * minute
  }, 'a date counts from now')
  t.same(judged(answer(429, '30')), { status: 'retry', inMs: minute }, 'the floor of 429 stays')
  t.same(judged(answer(429, '120')), { status: 'retry', inMs: 2 * minute })
  const dates = ['Sat, 31 Jan 2026 12:10:00 GMT', 'Saturday, 31-Jan-26 12:10:00 GMT', 'Sat Jan 31 12:10:00 2026']
  for (const date of dates) {
    t.same(retryAfter(date, 0), { status: 'retry', inMs: 10 * minute }, `${date}, whatever this machine's time zone is`)
  }
  t.same(retryAfter('Fri, 31 Jan 9999 12:10:00 GMT', 0), { status: 'retry', inMs: 15 * minute })
  for (const seconds of ['9'.repeat(20), '9'.repeat(400), '00000000000000000000900']) {
    t.same(retryAfter(seconds, 0), { status: 'retry', inMs: 15 * minute }, 'no number is too large')
  }
})

t.test('a Retry-After that is past or not readable changes no wait', async (t) => {
  const odd = [
    '0', '-1', '-9999999999', '+60', '1.5', '60.0', '60,0', '60, 120', '60;', '', ' ', 'soon', 'NaN', 'Infinity', '1e3',
    '5 minutes', '0x10', '\u0664\u0665', 'Thu', new Date(now - minute).toUTCString(), 'Thu, 01 Jan 1970 00:00:00 GMT',
    'Mon, 99 Foo 2026 00:00:00 GMT', 'Sat, 31 Jan 2026 99:10:00 GMT', 'Sat, 31 Jan 2026 12:10:00 PST',
    'Sat, 31 Jan 2026 12:10:00 +0100', 'Sat, 31 Jan 2026 12:10:00 +0100 GMT', 'Sat, 31 Jan 2026 12:10:00',
    '2026-01-31T12:10:00Z', '1769861400000ms'
  ]
  for (const header of odd) t.same(judged(answer(503, header)), { status: 'retry', inMs: 5_000 }, header)
})

t.test('every wait is finite: from 0.8 x base to the larger of 2 x base and 15 minutes', async () => {
  const anyResult = fc.oneof(
    fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      retryAfter: fc.oneof(fc.string(), fc.bigInt().map(String), fc.constant(undefined))
    }).map(({ status, retryAfter }) => answer(status, retryAfter)),
    fc.constantFrom(...(['blocked', 'dns', 'connect', 'tls', 'connection', 'timeout'] as const)).map(failure))
  fc.assert(fc.property(anyResult, fc.nat(2), fc.double({
    min: 0, max: 0.999, noNaN: true
  }), (result, failures, random) => {
    const verdict = verdictOf(result, { ...circumstances, failures, random })
    if (verdict.status !== 'retry') return true
    const base = schedule[failures + 1] ?? 0
    return verdict.inMs >= Math.floor(0.8 * base) && verdict.inMs <= Math.max(2 * base, 15 * minute)
  }))
})
