-- Up Migration

-- A crash of Postgres empties this table, and plans that are made then are for an empty one: they read all of it. Rows
-- that are counted anew do away with them, after so many new ones, not after a tenth of what there was before the crash.
ALTER TABLE ledger.person_keys SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000);
