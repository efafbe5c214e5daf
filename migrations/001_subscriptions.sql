-- Up Migration

-- Who may run a projection, the dispatcher or the reconciler. The epoch rises at every take-over and
-- fences off a former owner that wakes up late.
CREATE TABLE ledger.leases (
  name       text PRIMARY KEY,
  epoch      bigint NOT NULL,
  holder     text NOT NULL,
  expires_at timestamptz NOT NULL,
  yields     boolean NOT NULL DEFAULT false -- a command feeds what nobody else feeds, and gives way to a projector
);

-- Each generation of a projection: its tables in a schema of its own, folded by one version of its code.
-- Readers see the active one. Of those that are fed, `ready` ones wait to be swapped in, `retained` ones to be
-- swapped back in; a swap only changes states here and the views in read_model.
CREATE TABLE ledger.generations (
  projection   text NOT NULL,
  generation   integer NOT NULL,
  state        text NOT NULL CHECK (state IN ('building', 'ready', 'active', 'retained', 'dropping')),
  code_version integer NOT NULL,
  verified     text,                                -- against what, in words
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),  -- when it came into its state
  PRIMARY KEY (projection, generation)
);
CREATE UNIQUE INDEX generations_active ON ledger.generations (projection) WHERE state = 'active';
CREATE UNIQUE INDEX generations_next ON ledger.generations (projection) WHERE state IN ('building', 'ready');

-- Events that a consumer could not read, and all later events of their streams.
CREATE TABLE ledger.parked_events (
  consumer       text NOT NULL,
  stream         text NOT NULL,
  revision       bigint NOT NULL,
  position       bigint NOT NULL,
  event_type     text NOT NULL,
  error          text NOT NULL,
  parked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, stream, revision)
);
CREATE INDEX parked_events_age ON ledger.parked_events (consumer, parked_at);

-- Events that an operator has given up: the live projection and every rebuild pass over them.
CREATE TABLE ledger.skipped_events (
  projection text NOT NULL,
  stream     text NOT NULL,
  revision   bigint NOT NULL,
  reason     text NOT NULL,
  skipped_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (projection, stream, revision)
);

-- A generation that refused too many streams at once stops at this position. Once its circuit breaker is closed, it
-- parks what it refuses up to there.
CREATE TABLE ledger.circuit_breakers (
  consumer  text PRIMARY KEY,
  position  bigint NOT NULL,
  streams   integer NOT NULL,
  error     text NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz
);

-- The id of this database, which no other database has, and what must not happen again after a restore.
CREATE TABLE ledger.this_database (
  only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id           uuid NOT NULL DEFAULT gen_random_uuid(),
  skip_until   bigint NOT NULL DEFAULT 0,   -- a call up to this position without a delivery gets one that is skipped
  reread_until bigint NOT NULL DEFAULT 0    -- up to this position the dispatcher reads again what it has acted on before
);
INSERT INTO ledger.this_database DEFAULT VALUES;

-- The markers in the log that this database knows: those that its dispatcher wrote, noted before they were appended,
-- and those that an operator accepted with `webhooks resume` or `ids reseed`.
CREATE TABLE ledger.markers (
  id          uuid PRIMARY KEY,                -- of the event
  revision    bigint,                          -- null until the append was acknowledged
  position    bigint,
  calls_known boolean NOT NULL DEFAULT false, -- this database knows every call that the marker knows
  ids_passed  boolean NOT NULL DEFAULT false, -- the sequences are past the ids in the marker
  noted_at    timestamptz NOT NULL DEFAULT now()
);
