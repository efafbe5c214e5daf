-- Up Migration

-- Projections that an operator has paused: nobody feeds them, and readers see what they saw.
CREATE TABLE ledger.paused_projections (
  projection text PRIMARY KEY,
  since      timestamptz NOT NULL DEFAULT now()
);

-- What operators asked the service to do to a projection. A process of its own does it, and tells here how far it is.
CREATE TABLE ledger.projection_actions (
  id         uuid PRIMARY KEY,
  projection text NOT NULL,
  action     text NOT NULL CHECK (action IN ('replay', 'pause', 'resume', 'verify', 'rollback', 'drop')),
  state      text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
  progress   real CHECK (progress BETWEEN 0 AND 1), -- null where nobody knows the end
  message    text NOT NULL DEFAULT '',
  began_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  told_at    timestamptz NOT NULL DEFAULT clock_timestamp() -- a process that says nothing for long is dead
);
CREATE UNIQUE INDEX projection_actions_running ON ledger.projection_actions (projection) WHERE state = 'running';
CREATE INDEX projection_actions_newest ON ledger.projection_actions (began_at DESC);

-- What each process has done in a minute, in numbers; written once a minute where there is something to say.
CREATE TABLE ledger.minute_counts (
  minute  timestamptz NOT NULL,
  process text NOT NULL,
  name    text NOT NULL, -- such as 'commands accepted' or 'projection leads g1'
  count   bigint NOT NULL,
  PRIMARY KEY (minute, process, name)
);
