// Migrations expand and contract: the release before this one goes on beside a database that was migrated.
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { migrationProblems } from '../support/lint/migrations.js'

t.test('no migration takes away what the release before uses, or says why nobody minds', async (t) => {
  for (const file of readdirSync('migrations')) {
    t.same(migrationProblems(readFileSync(`migrations/${file}`, 'utf8')), [], `${file}: CONTRIBUTING.md says how`)
  }
})

const passes = [
  'CREATE TABLE ledger.a (id bigint PRIMARY KEY, b text NOT NULL); CREATE UNIQUE INDEX a_b ON ledger.a (b)',
  'CREATE TABLE ledger.a (id bigint); ALTER TABLE ledger.a ADD COLUMN b text NOT NULL',
  'CREATE UNLOGGED TABLE ledger.a (id bigint, b text); CREATE INDEX a_b ON ledger.a (b)',
  'ALTER TABLE ledger.old ADD COLUMN b text, ADD COLUMN c integer NOT NULL DEFAULT 0',
  'ALTER TABLE ledger.old ALTER COLUMN b DROP NOT NULL, ALTER c DROP DEFAULT, ALTER d SET DEFAULT 5',
  'CREATE INDEX CONCURRENTLY old_b ON ledger.old (b)',
  'CREATE SEQUENCE ledger.ids INCREMENT BY 20',
  "-- DROP TABLE is not meant\nCOMMENT ON TABLE ledger.old IS 'RENAME TO; DROP TABLE'",
  '-- safe: nothing has read this table since the release before last\nDROP TABLE ledger.old',
  'CREATE FUNCTION ledger.f () RETURNS void LANGUAGE sql AS $$ SELECT 1 -- DROP TABLE\n$$'
]
const refused: Array<[string, RegExp]> = [
  ['DROP TABLE ledger.old', /drops/],
  ['ALTER TABLE ledger.old DROP b', /drops/],
  ['ALTER TABLE ledger.old ADD COLUMN c text, DROP COLUMN b', /drops/],
  ['DROP INDEX ledger.old_b', /drops/],
  ['ALTER TABLE ledger.old RENAME COLUMN b TO c', /renames/],
  ['ALTER TABLE ledger.old RENAME b TO c', /renames/],
  ['alter table ledger.old rename to other', /renames/],
  ['ALTER TABLE ledger.old ALTER COLUMN b TYPE bigint', /type/],
  ['ALTER TABLE ledger.old ALTER b SET DATA TYPE bigint', /type/],
  ['ALTER TABLE ledger.old ALTER b SET NOT NULL', /nulls/],
  ['ALTER TABLE ledger.old ADD COLUMN b text NOT NULL', /default/],
  ['ALTER TABLE ledger.old ADD b numeric(10, 2) NOT NULL, ADD COLUMN c text DEFAULT 1', /default/],
  ['ALTER TABLE ledger.old ADD CONSTRAINT c CHECK (b > 0)', /rows/],
  ['CREATE INDEX old_b ON ledger.old (b)', /nobody can write/],
  ['CREATE UNIQUE INDEX CONCURRENTLY old_b ON ledger.old (b)', /rows/],
  ['DO $$ BEGIN DROP TABLE ledger.old; END $$', /drops/],
  ['-- safe: yes\nDROP TABLE ledger.old', /drops/],
  ['-- safe: of the first statement and not of the other one\nSELECT 1; DROP TABLE ledger.old', /drops/]
]

t.test('what expands passes, and so does what says why it is safe', async (t) => {
  for (const sql of passes) t.same(migrationProblems(sql), [], sql)
})

t.test('what contracts is refused', async (t) => {
  for (const [sql, problem] of refused) t.match(migrationProblems(sql), [problem], sql)
})
