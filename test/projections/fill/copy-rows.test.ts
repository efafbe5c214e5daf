// What is copied into a table is what an upsert makes of the same rows.
import t from 'tap'
import { copyRows } from '../../../projections/fill/copy-rows.js'
import { createTable, saveRows, table } from '../../../projections/engine/table.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { fc } from '../../support/fuzz/property.js'

const { pool } = await scratchLedger(t)
const kinds = table<{ id: number, text: string | null, flag: boolean | null, at: string | null, json: unknown }>({
  name: 'kinds',
  key: 'id',
  columns: { id: 'bigint', text: 'text', flag: 'boolean', at: 'timestamptz', json: 'json' }
})
for (const schema of ['copied', 'saved']) await pool.query(`CREATE SCHEMA ${schema}; ${createTable(schema, kinds)}`)

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map((found) => found.replaceAll('\0', '')),
  fc.constantFrom('', '\\N', '\\.', '\\', '\t', 'a\r\nb', '\\n', '\ud800', '"', 'NULL', '\u2028', 'é'.repeat(9_000))
)
const row = fc.record({
  text: fc.option(text),
  flag: fc.option(fc.boolean()),
  at: fc.option(fc.constantFrom('2026-01-02T03:04:05.678Z', '2026-01-02T03:04:60+15:59', '1000-01-01T00:00:00.123456789Z')),
  json: fc.option(fc.oneof(text, fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })))
})

const rowsIn = async (schema: string) =>
  (await pool.query(`SELECT id, text, flag, at::text, json::text FROM ${schema}.kinds ORDER BY id`)).rows

t.test('rows of any content', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (found) => {
    const rows = found.map((each, index) => ({ id: index - 3, ...each }))
    await pool.query('TRUNCATE copied.kinds, saved.kinds')
    await inTransaction(pool, async (tx) => {
      await copyRows(tx, 'copied', kinds, rows)
      await saveRows(tx, 'saved', kinds, rows)
    })
    t.strictSame(await rowsIn('copied'), await rowsIn('saved'))
  }))
})

t.test('a row that is there, and one that Postgres does not take, are refused, and the connection goes on', async (t) => {
  const rows = [{ id: 1, text: 'a', flag: null, at: null, json: {} }]
  await pool.query('TRUNCATE copied.kinds')
  await inTransaction(pool, (tx) => copyRows(tx, 'copied', kinds, rows))
  const client = await pool.connect()
  t.teardown(() => client.release())
  await t.rejects(copyRows(client, 'copied', kinds, rows), { code: '23505' })
  await t.rejects(copyRows(client, 'copied', kinds, [{ ...rows[0], id: 1.5 }]), { code: '22P02' })
  await t.rejects(copyRows(client, 'copied', kinds, [{ ...rows[0], id: 2, text: '\0' }]), { code: '22021' })
  t.strictSame((await client.query('SELECT count(*)::int AS count FROM copied.kinds')).rows, [{ count: 1 }])
})
