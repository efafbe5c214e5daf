-- Up Migration

-- What long streams of assistants added up to, so that a process that does not know one need not read all of it: one row for a
-- stream of hundreds of events, none for others. It can be emptied at any time. Nothing of a person is in it.
CREATE TABLE ledger.stream_snapshots (
  stream         text PRIMARY KEY COLLATE "C",
  fold_version   integer NOT NULL,          -- of the code that folded it: other code takes no notice of it
  revision       bigint NOT NULL,           -- of the last event in it
  event_id       text NOT NULL,             -- of that event: a log in which another one is there is another log
  state_revision bigint NOT NULL,
  position       bigint NOT NULL,
  state          json NOT NULL,
  made_at        timestamptz NOT NULL DEFAULT now()
);
