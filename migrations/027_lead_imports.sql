-- Up Migration

-- Rows of imports that wait, in the order in which they came, in parts. A part goes when its rows are done.
CREATE TABLE ledger.lead_import_parts (
  upload_id  uuid NOT NULL,            -- of one reading of a body
  first_row  integer NOT NULL,         -- the number of its first row, from 1
  leads      json NOT NULL,            -- each as its body, with what was refused of it
  ids        bigint[],                 -- reserved for its leads before the first was begun: a repetition has the same
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (upload_id, first_row)
);
CREATE INDEX lead_import_parts_age ON ledger.lead_import_parts (created_at);

-- What became of each row. It holds no phone number and no name.
CREATE TABLE ledger.lead_import_results (
  import_id uuid NOT NULL REFERENCES ledger.background_requests (id) ON DELETE CASCADE,
  row       integer NOT NULL,
  outcome   text NOT NULL CHECK (outcome IN ('created', 'duplicate', 'invalid')),
  lead_id   bigint,
  errors    json,                      -- by field, as a 422 has them
  PRIMARY KEY (import_id, row)
);
