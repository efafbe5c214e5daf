-- Up Migration

-- Streams of do-not-call entries, noted before their first event is appended: a number whose stream is neither here nor
-- in the read model has no entry, and commands need not ask the log for it. A digest of user and number names a stream.
CREATE TABLE ledger.noted_entries (stream text PRIMARY KEY COLLATE "C");
