// The event and the rows before it decide whether it can be projected: Postgres stores all that can be decoded.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { DecodeError, decode } from '../../../src/domain/events.js'
import type { Json } from '../../../src/domain/json.js'
import {
  assistantCreated, callCompleted, leadCreated, logOf, settings, type Told
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, project, parkedEvents } from '../../support/projections/projected.js'
import { fc } from '../../support/fuzz/property.js'

const { pool } = await scratchLedger(t)

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '\0', '\ud800', '\\u0000', '{"\'\\,}', 'a'.repeat(70_000), '\ufeff', 'NULL')
)
const nesting = (levels: number): Json => levels === 0 ? {} : { a: [nesting(levels - 1)] }
const json: fc.Arbitrary<Json> = fc.oneof(
  text, fc.constantFrom(null, true, 1e308, -0, 5e-324, nesting(40), nesting(260)), fc.array(text, { maxLength: 3 })
)
const object = fc.dictionary(text.filter((key) => key !== '__proto__'), json, { maxKeys: 3 })
const id = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 2 ** 31 }) }, fc.constantFrom(
  0, 1.5, Number.MAX_SAFE_INTEGER, 2 ** 53
))
const zone = fc.constantFrom('Z', '+00:00', '+15:59', '-15:59', '+16:00', '-12:30')
const time = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(
      fc.date({ min: new Date('1000-01-01T00:00:00Z'), max: new Date('9998-12-31T23:59:59Z'), noInvalidDate: true }),
      fc.constantFrom('', '.1', '.123456789'),
      zone
    ).map(([date, fraction, zone]) => date.toISOString().slice(0, 19) + fraction + zone)
  },
  fc.constantFrom(
    '9998-12-31T23:59:59.999999999-15:59', '1000-01-01T00:00:00+15:59', '0999-12-31T00:00:00Z', '2026-02-30T00:00:00Z',
    '2024-02-29T12:00:00Z', '2026-01-31T23:59:60Z', '2026-01-31 12:00:00Z', 'infinity', 'now'
  ))

/** Anything that can be appended, each in a stream of its own. */
const told: fc.Arbitrary<Told> = fc.oneof(
  fc.record({ id, user: text, name: text, prompt: text, variables: object, at: time })
    .map(({ id, user, name, prompt, variables, at }) => ({
      ...assistantCreated(id),
      data: {
        assistant_id: id,
        user_id: user,
        settings: { ...settings(), assistant_name: name, system_prompt: prompt, variables },
        created_at: at
      }
    })),
  fc.record({
    id, campaign: id, user: text, variables: object, at: time, more: id
  }).map(({ id, campaign, user, variables, at, more }) => {
    const created = leadCreated(id, campaign, [more], user)
    return {
      ...created, data: { ...created.data, variables: { ...variables, customer_name: '', email: '' }, created_at: at }
    }
  }),
  fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9._~-]{1,128}$/),
    assistant_id: id,
    lead_id: fc.option(id),
    from: text,
    at: time,
    end: time,
    evaluation: object,
    words: text,
    extra: object
  })
    .map(({ id, at, end, words, extra, ...report }) => {
      const completed = callCompleted(id)
      return {
        ...completed,
        data: {
          ...extra,
          ...completed.data,
          ...report,
          started_at: at,
          ended_at: end,
          transcript: [{ role: 'customer', text: words, at: 0 }]
        }
      }
    }))

t.test('only events that cannot be decoded or contradict the rows are parked, whatever they hold', async (t) => {
  let stored = 0
  await fc.assert(fc.asyncProperty(fc.uniqueArray(told, {
    selector: ({ stream }) =>
      stream,
    minLength: 40,
    maxLength: 80
  }), async (told) => {
    await emptyReadModels(pool)
    await pool.query(`
      INSERT INTO ledger.circuit_breakers (consumer, position, streams, error, closed_at)
      SELECT 'read_' || name || '_g1', 1e18, 0, '', now() FROM unnest($1::text[]) name
      ON CONFLICT DO NOTHING`, [['assistants', 'leads', 'calls']])
    const log = logOf()(told)
    await project(pool, log)
    const malformed = log.filter((event) => {
      try {
        return decode(event) === undefined
      } catch (error) {
        return error instanceof DecodeError
      }
    }).map(({ stream }) => stream)
    for (const projection of [assistants, leads, calls]) {
      const parked = (await parkedEvents(pool, projection))
        .filter(({ error }) => !/^lead id \d+ already belongs/.test(error))
      const wanted = malformed.filter((stream) =>
        log.some((event) => event.stream === stream && projection.eventTypes.some((type) => type === event.type)))
      if (!t.strictSame(
        parked.map(({ stream }) => stream).sort(), wanted.sort(), `${wanted.length} of ${log.length}`
      )) throw new Error(JSON.stringify(parked).slice(0, 2_000))
    }
    stored += log.length - malformed.length
  }), { numRuns: 8, endOnFailure: true })
  t.ok(stored > 20, `${stored} were stored`)
})
