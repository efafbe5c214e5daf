// The event and the rows before it decide whether it can be projected: Postgres stores all that can be decoded, and
// every query of ours reads, finds and compares what is stored.
import t, { type Test } from 'tap'
import { runs } from '@ringledger/embedded-postgres/testing'
import {
  assistants, findAssistant, findAssistantHistory, findAssistants
} from '../../../projections/assistants.js'
import { calls, eachCall, findCall, findCalls } from '../../../projections/calls.js'
import { compareRows } from '../../../projections/engine/compare.js'
import { createGeneration, schemaOf } from '../../../projections/engine/generations.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { columnsOf, loadRows, upsert, type Key } from '../../../projections/engine/table.js'
import { Writer } from '../../../projections/engine/writer.js'
import { eachLead, findLead, findLeads } from '../../../projections/find-leads.js'
import { leads } from '../../../projections/leads.js'
import { digested, findPerson } from '../../../projections/persons.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { Page } from '../../../src/postgres/page.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { DecodeError, decode } from '../../../src/domain/events.js'
import type { Json } from '../../../src/domain/json.js'
import {
  assistantCreated, callCompleted, leadCreated, logOf, settings, type Told
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, project, parkedEvents } from '../../support/projections/projected.js'
import { anyText, fc } from '../../support/fuzz/property.js'

const { pool } = await scratchLedger(t)

const text = fc.oneof(
  anyText({ maxLength: 20 }),
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
    .map(({ id, user, name, prompt, variables, at }) => {
      const given = settings({ assistant_name: name, system_prompt: prompt, variables })
      return { ...assistantCreated(id), data: { assistant_id: id, user_id: user, settings: given, created_at: at } }
    }),
  fc.record({ id, campaign: id, user: text, name: text, variables: object, at: time, more: id })
    .map(({ id, campaign, user, name, variables, at, more }) => {
      const { data, ...created } = leadCreated(id, campaign, [more], user)
      return { ...created, data: { ...data, variables: { ...variables, customer_name: name, email: '' }, created_at: at } }
    }),
  fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9._~-]{1,128}$/),
    ...{ assistant_id: id, lead_id: fc.option(id), from: text, at: time, end: time, evaluation: object },
    ...{ words: text, extra: object }
  }).map(({ id, at, end, words, extra, ...report }) => {
    const completed = callCompleted(id)
    const transcript = [{ role: 'customer', text: words, at: 0 }]
    return { ...completed, data: { ...extra, ...completed.data, ...report, started_at: at, ended_at: end, transcript } }
  }))

/** Folded again in two batches, read back and written anew: a verification finds no difference. */
async function isComparedAndWrittenAgain (t: Test, projection: Projection, log: StoredEvent[]): Promise<void> {
  await inTransaction(pool, (tx) => createGeneration(tx, projection, 2, 'building'))
  const [live, schema] = [schemaOf(projection, 1), schemaOf(projection, 2)]
  const writer = new Writer(projection, 2, pool, { refuse: async () => {} })
  const wanted = log.filter(({ type }) => projection.eventTypes.some((known) => known === type))
  let from = 0n
  for (const events of [wanted.slice(0, 20), wanted.slice(20)]) {
    const position = events.at(-1)?.position ?? from
    await writer.write({ events, position }, from, 0n)
    from = position
  }
  for (const table of projection.tables) {
    const { rows } = await pool.query<{ key: Key }>(`SELECT "${table.key}" AS key FROM ${schema}.${table.name}`)
    const loaded = await loadRows(pool, schema, table, rows.map(({ key }) => key)) ?? []
    await pool.query(upsert(schema, table), columnsOf(table, loaded))
  }
  const sides = { found: { db: pool, schema: live }, expected: { db: pool, schema } }
  t.strictSame((await compareRows(projection.tables, sides)).differences, [])
}

const page: Page = { perPage: 100, after: [] }
const { signal } = new AbortController()

/** Lists, searches and exports have all that the user has. */
async function isFound (t: Test, userId: string): Promise<void> {
  const own = async <Row extends object>(columns: string, from: string) => (await pool.query<Row>(
    `SELECT ${columns} FROM read_model.${from} AND user_id = $1 ORDER BY id LIMIT 100`, [userId])).rows
  const [theirAssistants, theirLeads, theirCalls] = await Promise.all([
    own<{ id: string, name: string }>('id, name', 'assistants WHERE true'),
    own<{ id: string, word: string, phone_number: string }>(
      "id, split_part(words, ' ', 1) AS word, phone_number", 'leads WHERE primary_id IS NULL'),
    own<{ id: string }>('id', 'calls WHERE true')
  ])
  const listed = [
    await findAssistants(pool, { userId }, page), await findLeads(pool, { userId }, page),
    await findCalls(pool, { userId }, page)
  ]
  const theirs = [theirAssistants, theirLeads, theirCalls]
  t.strictSame(listed.map(({ items }) => items.length), theirs.map(({ length }) => length))
  for (const { id, name } of theirAssistants) {
    const { items } = await findAssistants(pool, { userId, searched: name }, page)
    t.ok(items.some((found) => found.id === Number(id)), name)
    t.ok(await findAssistant(pool, userId, Number(id)))
    t.ok((await findAssistantHistory(pool, userId, Number(id), page))?.items.length)
  }
  for (const { id, word } of theirLeads) {
    const { items } = await findLeads(pool, { userId, searched: word }, page)
    t.ok(items.some(({ lead }) => lead.id === Number(id)), word)
    t.ok(await findLead(pool, userId, Number(id)))
  }
  const exported: Array<number | string> = []
  await eachLead(pool, { userId }, async (found) => { exported.push(...found.map(({ lead }) => lead.id)) }, signal)
  await eachCall(pool, { userId }, async (found) => { exported.push(...found.map(({ call_id }) => call_id)) }, signal)
  t.equal(exported.length, theirLeads.length + theirCalls.length)
  for (const { id } of theirCalls) t.ok(await findCall(pool, userId, id))
  await findCalls(pool, { userId, searched: 'ada' }, page)
  await inTransaction(pool, async (tx) => {
    const phoneNumber = '+15551230001'
    const person = findPerson(tx, digested({ userId, phoneNumber }, (number) => number), signal)
    let found = 0
    for (const each of [person.leads, person.calls]) await each(async (items: object[]) => { found += items.length })
    t.ok(found >= theirLeads.filter(({ phone_number }) => phone_number === phoneNumber).length)
    await person.blacklistEntry()
  })
}

t.test('keys of which Postgres makes one are there once', async (t) => {
  await emptyReadModels(pool)
  const { data, ...created } = leadCreated(1, 10)
  const variables = { customer_name: 'Ada', email: '', '\ud800': 1, '\udfff': 2 }
  await project(pool, logOf()([{ ...created, data: { ...data, variables } }]))
  const { rows } = await pool.query('SELECT variables::text FROM read_leads_g1.leads')
  t.strictSame(rows, [{ variables: '{"customer_name":"Ada","email":"","\ufffd":2}' }])
})

t.test('only events that cannot be decoded or contradict the rows are parked, whatever they hold', async (t) => {
  let stored = 0
  const unique = { selector: ({ stream }: Told) => stream, minLength: 40, maxLength: 80 }
  await fc.assert(fc.asyncProperty(fc.uniqueArray(told, unique), async (told) => {
    await emptyReadModels(pool)
    await pool.query('UPDATE ledger.generations SET breaker_position = 1e18')
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
    for (const projection of [assistants, leads, calls]) await isComparedAndWrittenAgain(t, projection, log)
    const { rows: users } = await pool.query<{ user_id: string }>(`
      SELECT user_id FROM read_model.assistants UNION SELECT user_id FROM read_model.leads
      UNION SELECT user_id FROM read_model.calls WHERE user_id IS NOT NULL ORDER BY user_id LIMIT 6`)
    for (const { user_id } of users) await isFound(t, user_id)
  }), { numRuns: runs(3), endOnFailure: true })
  t.ok(stored > 20, `${stored} were stored`)
})
