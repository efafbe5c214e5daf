// A verification holds rows in memory several times, so a sample of large rows is smaller.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { compareGenerations } from '../../../projections/engine/compare.js'
import { Sample } from '../../../projections/engine/verify.js'
import { inSnapshot } from '../../../src/postgres/transaction.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)
await emptyReadModels(pool)
const [table] = assistants.tables
if (!table) throw new Error('assistants have no table')
const schema = 'read_assistants_g1'

/** So many assistants, each with settings of so many characters. */
async function fill (count: number, characters: number): Promise<void> {
  await pool.query(`TRUNCATE ${schema}.assistants`)
  await pool.query(`
    INSERT INTO ${schema}.assistants (id, settings)
    SELECT id, json_build_object('system_prompt', repeat('x', $2)) FROM generate_series(1, $1) id`, [count, characters])
}

/** The rows of a sample of 50, and their bytes. */
const sampled = () => inSnapshot(pool, async (db) => {
  const sample = await Sample.of(db, schema, assistants.tables, { rows: 50, seed: 7 })
  const rows = [...await sample.rows(db, schema, table)]
  t.ok(rows.every(([key]) => sample.has(table, key)))
  return { count: rows.length, bytes: JSON.stringify(rows).length }
})

t.test('of small rows a sample has as many as were asked for', async (t) => {
  await fill(50, 10)
  t.equal((await sampled()).count, 50)
})

t.test('of large rows it has about 8 MiB', async (t) => {
  await fill(60, 2 ** 20)
  const { count, bytes } = await sampled()
  t.ok(count > 0 && bytes < 16 * 2 ** 20, `${count} rows of ${bytes} bytes`)
})

t.test('of whole tables only the rows that differ are loaded', async (t) => {
  await fill(60, 2 ** 20)
  await pool.query('DROP SCHEMA IF EXISTS read_assistants_g2 CASCADE; CREATE SCHEMA read_assistants_g2')
  for (const { name } of assistants.tables) {
    await pool.query(`CREATE TABLE read_assistants_g2.${name} AS TABLE ${schema}.${name}`)
  }
  await pool.query("UPDATE read_assistants_g2.assistants SET name = 'Other' WHERE id = 7")
  await pool.query('DELETE FROM read_assistants_g2.assistants WHERE id = 8')
  const { differences } = await inSnapshot(pool, (db) => compareGenerations(assistants, {
    found: { db, generation: 1 }, expected: { db: pool, generation: 2 }
  }, 10))
  const [changed, missing, ...more] = differences.toSorted((a, b) => Number(a.key) - Number(b.key))
  t.match(changed, { key: '7', found: { name: null }, expected: { name: 'Other' } })
  t.match(missing, { key: '8', expected: undefined })
  t.strictSame(more, [])
})
