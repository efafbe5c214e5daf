-- Up Migration

-- Requests that take longer than an answer. A worker does them, turn by turn: what it keeps, it keeps under the number
-- of its turn, so that of two that believe to have a request only the later one writes.
CREATE TABLE ledger.background_requests (
  id          uuid PRIMARY KEY,
  kind        text NOT NULL,
  user_id     text NOT NULL,
  state       text NOT NULL DEFAULT 'prepared' CHECK (state IN ('prepared', 'accepted', 'completed', 'failed')),
  input       jsonb NOT NULL,              -- what was asked; empty once it is finished
  progress    jsonb NOT NULL DEFAULT '{}',
  reason      text,                        -- why it failed
  turn        bigint NOT NULL DEFAULT 0,
  failures    integer NOT NULL DEFAULT 0,  -- turns in a row that began and kept nothing
  due_at      timestamptz NOT NULL DEFAULT now(),
  queued_at   timestamptz,                 -- a job of it waits or runs
  job_number  bigint NOT NULL DEFAULT 0,
  created_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX background_requests_accepted ON ledger.background_requests (kind, user_id, created_at, id)
  WHERE state = 'accepted';
CREATE INDEX background_requests_prepared ON ledger.background_requests (created_at) WHERE state = 'prepared';
CREATE INDEX background_requests_finished ON ledger.background_requests (kind, finished_at) WHERE finished_at IS NOT NULL;
