// A database of an earlier checkout is refused in words, and stays as it was.
import pg from 'pg'
import t from 'tap'
import { secrets } from '../support/auth/secrets.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { dataDir, runWarm } from '../support/ringledger.js'

const refused = {
  code: 1, stderr: /Another version before 0\.1\.0 made this database.*DATA_DIR away or delete it.*DATABASE_URL lead to a new database/
}

async function withDatabase<Result> (url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url)
  await client.connect()
  return await work(client).finally(() => client.end())
}

/** Each table with its columns and rows, each function and sequence. */
const contents = (url: string) => withDatabase(url, async (client) => {
  const { rows: [row] } = await client.query<Record<'rows' | 'columns' | 'functions' | 'sequences', string>>(`
    SELECT database_to_xml(true, false, '')::text AS rows,
           (SELECT string_agg(a::text, ',' ORDER BY attrelid, attnum) FROM pg_attribute a WHERE attrelid >= 16384) AS columns,
           (SELECT string_agg(proname || prosrc, ',' ORDER BY oid) FROM pg_proc WHERE oid >= 16384) AS functions,
           (SELECT string_agg(s::text, ',' ORDER BY s::text) FROM pg_sequences s) AS sequences`)
  return row
})

t.test('migrate, a role and doctor refuse a database that other migrations made', async (t) => {
  const { url } = await scratchPostgres(t, 'migrated')
  const env = { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: url }
  for (const change of [
    "UPDATE ledger.migrations SET hash = 'another' WHERE name LIKE '001%'", 'ALTER TABLE ledger.migrations DROP COLUMN hash'
  ]) {
    await withDatabase(url, (client) => client.query(change))
    const before = await contents(url)
    t.match(before?.rows, '<webhook_deliveries>')
    t.match(await runWarm(['migrate'], env), refused, change)
    t.same(await contents(url), before)
  }
  const before = await contents(url)
  t.match(await runWarm(['api'], env), refused)
  t.match(await runWarm(['doctor'], env), { code: 1, stdout: /migrations +of another version before 0\.1\.0/ })
  t.same(await contents(url), before)
})
