-- Keys and requests of persons, and work that takes longer than an answer.

-- Keys that the data of persons is sealed under: a cache of the streams `person-…` of the log, which can be emptied at any
-- time. No write-ahead log, no standby and no copy of the data directory has it, so an erased key is not in a backup.
-- A row without `wrapped` says that the key was erased. A crash of Postgres empties the table, and a plan for an empty
-- table reads all of it: Postgres counts the rows anew after 2,000 new ones, not after a tenth of what there was.
CREATE UNLOGGED TABLE ledger.person_keys (
  key_id     uuid PRIMARY KEY,
  person     text NOT NULL COLLATE "C",    -- digests of user and number
  wrapped_by text,                         -- which SECRET_KEY encrypted it
  wrapped    bytea                         -- AES-256-GCM: nonce, tag, cipher text
) WITH (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000);
CREATE INDEX person_keys_of ON ledger.person_keys (person);
-- A sample of ANALYZE is in the write-ahead log and in copies.
ALTER TABLE ledger.person_keys ALTER wrapped SET STATISTICS 0;

-- Erasures of persons on a real event store, which removes what was erased when its operator scavenges. A row goes when
-- a scavenge of every member is known that began later.
CREATE TABLE ledger.unscavenged_erasures (
  request_id uuid PRIMARY KEY,
  erased_at  timestamptz NOT NULL DEFAULT now()
);

-- Requests that take longer than an answer. A worker does them, turn by turn, and keeps results under the number of its
-- turn: of two workers that believe to have a request only the later one writes.
CREATE TABLE ledger.work (
  id          uuid PRIMARY KEY,
  kind        text NOT NULL,
  user_id     text NOT NULL,
  state       text NOT NULL DEFAULT 'prepared' CHECK (state IN ('prepared', 'accepted', 'completed', 'failed')),
  input       jsonb NOT NULL,              -- what was asked; empty once it is finished
  progress    jsonb NOT NULL DEFAULT '{}',
  reason      text,                        -- why it failed
  turn        bigint NOT NULL DEFAULT 0,
  failures    integer NOT NULL DEFAULT 0,  -- turns in a row that began and kept nothing
  last_error  text,                        -- of the last of them
  due_at      timestamptz NOT NULL DEFAULT now(),
  created_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX work_accepted ON ledger.work (kind, user_id, created_at, id)
  WHERE state = 'accepted';
CREATE INDEX work_imports ON ledger.work (user_id, created_at DESC, id DESC)
  WHERE kind = 'lead-import' AND state <> 'prepared';
CREATE INDEX work_prepared ON ledger.work (created_at) WHERE state = 'prepared';
CREATE INDEX work_failed ON ledger.work (finished_at) WHERE state = 'failed';
CREATE INDEX work_finished ON ledger.work (kind, finished_at) WHERE finished_at IS NOT NULL;
-- ANALYZE keeps the samples of a table that has become empty.
ALTER TABLE ledger.work ALTER input SET STATISTICS 0;

-- Exports, in parts, each encrypted alone. They go with their request.
CREATE TABLE ledger.person_exports (
  request_id uuid NOT NULL REFERENCES ledger.work (id) ON DELETE CASCADE,
  part       integer NOT NULL,
  is_last    boolean NOT NULL,
  user_id    text NOT NULL,
  key_id     text NOT NULL,
  sealed     bytea NOT NULL,
  call_ids   text[] NOT NULL,              -- calls in it: whoever answered them may be erased while it is kept
  PRIMARY KEY (request_id, part)
);
ALTER TABLE ledger.person_exports ALTER sealed SET STATISTICS 0;

-- Rows of imports that wait, in the order in which they came, in parts. A part goes when its rows are done.
CREATE TABLE ledger.lead_import_parts (
  upload_id  uuid NOT NULL,            -- of one reading of a body
  user_id    text NOT NULL,            -- no request names an upload whose body is still being read
  first_row  integer NOT NULL,         -- the number of its first row, from 1
  leads      json NOT NULL,            -- each as its body, with what was refused of it
  ids        bigint[],                 -- reserved for its leads before the first was begun: a repetition has the same
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (upload_id, first_row)
);
CREATE INDEX lead_import_parts_age ON ledger.lead_import_parts (created_at);

-- What became of each row. It holds no phone number and no name.
CREATE TABLE ledger.lead_import_results (
  import_id uuid NOT NULL REFERENCES ledger.work (id) ON DELETE CASCADE,
  row       integer NOT NULL,
  outcome   text NOT NULL CHECK (outcome IN ('created', 'duplicate', 'invalid')),
  lead_id   bigint,
  errors    json,                      -- by field, as a 422 has them
  PRIMARY KEY (import_id, row)
);
