-- Up Migration

-- Requests for a person's data that have not ended. The number stands here alone, encrypted, and goes with the row: the
-- events of a request have its digest.
CREATE TABLE ledger.person_requests (
  id         uuid PRIMARY KEY,
  user_id    text NOT NULL,
  key_id     text NOT NULL,                -- which SECRET_KEY encrypted it
  sealed     bytea NOT NULL,               -- AES-256-GCM: nonce, tag, cipher text
  tries      integer NOT NULL DEFAULT 0,   -- that failed
  due_at     timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX person_requests_due ON ledger.person_requests (due_at);

-- Exports, in parts that are encrypted each by itself; they are removed a day after their request has ended.
CREATE TABLE ledger.person_exports (
  request_id uuid NOT NULL,
  part       integer NOT NULL,
  is_last    boolean NOT NULL,
  user_id    text NOT NULL,
  key_id     text NOT NULL,
  sealed     bytea NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (request_id, part)
);
CREATE INDEX person_exports_age ON ledger.person_exports (written_at);
