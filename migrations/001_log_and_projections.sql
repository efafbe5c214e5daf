-- What this database knows of the log, and the projections that are made of it. Tables of read models are not here: each
-- generation has a schema of its own, which the projector makes. Leads and do-not-call entries of the log are sealed in
-- every version: who edits the versions of events in place edits this line too, and a log of before is refused.

-- Names of streams may be too long for an entry of an index: indexes hold their digest.
CREATE FUNCTION ledger.digest_of(stream text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT sha256(convert_to(stream, 'UTF8')) $$;

-- The id of this database, which no other database has, what must not happen again after a restore, and the last reseal.
CREATE TABLE ledger.this_database (
  only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id           uuid NOT NULL DEFAULT gen_random_uuid(),
  skip_until   bigint NOT NULL DEFAULT 0,   -- a call up to this position without a delivery gets one that is skipped
  reread_until bigint NOT NULL DEFAULT 0,   -- up to this position the dispatcher reads again what it has acted on before
  resealed_with text                        -- the id of the SECRET_KEY with which everything was encrypted anew
);
INSERT INTO ledger.this_database DEFAULT VALUES;

-- The markers in the log that this database knows: those that its dispatcher wrote, noted before they were appended,
-- and those that an operator accepted with `webhooks resume` or `ids reseed`.
CREATE TABLE ledger.markers (
  id          uuid PRIMARY KEY,               -- of the event
  revision    bigint,                         -- null until the append was acknowledged
  position    bigint,
  calls_known boolean NOT NULL DEFAULT false, -- this database knows every call that the marker knows
  ids_passed  boolean NOT NULL DEFAULT false, -- the sequences are past the ids in the marker
  noted_at    timestamptz NOT NULL DEFAULT now()
);

-- Which process runs a projection, the dispatcher or the reconciler. Each take-over raises the epoch, which fences off
-- a former owner that wakes up late.
CREATE TABLE ledger.leases (
  name       text PRIMARY KEY,
  epoch      bigint NOT NULL,
  holder     text NOT NULL,
  expires_at timestamptz NOT NULL,
  yields     boolean NOT NULL DEFAULT false -- a command feeds what nobody else feeds, and gives way to a projector
);

-- Each generation of a projection: its tables in a schema of its own, folded by one version of its code.
-- Readers see the active one. Projectors feed `ready` ones, which wait to be swapped in, and `retained` ones, which wait
-- to be swapped back in. A swap only changes states here and the views in read_model.
CREATE TABLE ledger.generations (
  projection   text NOT NULL,
  generation   integer NOT NULL,
  state        text NOT NULL CHECK (state IN ('building', 'ready', 'active', 'retained', 'dropping')),
  code_version integer NOT NULL,
  verified     text,                                -- against what, in words
  visible_from bigint NOT NULL DEFAULT 0,           -- readers see it once its checkpoint is here: where the log ended when
                                                    -- it was made beside a log with events
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),  -- when it came into its state
  -- A generation that refused too many streams at once stops at `breaker_position`. Once an operator closes its circuit
  -- breaker, it parks what it refuses up to there.
  breaker_open_since timestamptz,                   -- null while it is closed
  breaker_position   bigint NOT NULL DEFAULT -1,
  breaker_streams    integer,
  breaker_error      text,
  PRIMARY KEY (projection, generation)
);
CREATE UNIQUE INDEX generations_active ON ledger.generations (projection) WHERE state = 'active';
CREATE UNIQUE INDEX generations_next ON ledger.generations (projection) WHERE state IN ('building', 'ready');

-- Events that a consumer could not read, and all later events of their streams.
CREATE TABLE ledger.parked_events (
  consumer      text NOT NULL,
  stream        text NOT NULL,
  stream_digest bytea NOT NULL GENERATED ALWAYS AS (ledger.digest_of(stream)) STORED,
  revision      bigint NOT NULL,
  position      bigint NOT NULL,
  event_type    text NOT NULL,
  error         text NOT NULL,
  parked_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, stream_digest, revision)
);
CREATE INDEX parked_events_age ON ledger.parked_events (consumer, parked_at);

-- Events that an operator has given up: the live projection and every rebuild pass over them.
CREATE TABLE ledger.skipped_events (
  projection    text NOT NULL,
  stream        text NOT NULL,
  stream_digest bytea NOT NULL GENERATED ALWAYS AS (ledger.digest_of(stream)) STORED,
  revision      bigint NOT NULL,
  reason        text NOT NULL,
  skipped_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (projection, stream_digest, revision)
);

-- Projections that an operator has paused: nobody feeds them, and readers see what they saw.
CREATE TABLE ledger.paused_projections (
  projection text PRIMARY KEY,
  since      timestamptz NOT NULL DEFAULT now()
);

-- Whoever feeds generations looks at once which ones there are.
CREATE FUNCTION ledger.notify_generations() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN NOTIFY ringledger_generations; RETURN NULL; END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON ledger.generations
  EXECUTE FUNCTION ledger.notify_generations();
CREATE TRIGGER changed AFTER INSERT OR DELETE ON ledger.paused_projections
  EXECUTE FUNCTION ledger.notify_generations();

-- What operators asked the service to do to a projection. A process of its own does it, and notes here how far it is.
CREATE TABLE ledger.projection_actions (
  id         uuid PRIMARY KEY,
  projection text NOT NULL,
  action     text NOT NULL CHECK (action IN ('replay', 'pause', 'resume', 'verify', 'rollback', 'drop')),
  state      text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
  progress   real CHECK (progress BETWEEN 0 AND 1), -- null where nobody knows the end
  message    text NOT NULL DEFAULT '',
  began_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  told_at    timestamptz NOT NULL DEFAULT clock_timestamp() -- a process that notes nothing for long is dead
);
CREATE UNIQUE INDEX projection_actions_running ON ledger.projection_actions (projection) WHERE state = 'running';
CREATE INDEX projection_actions_newest ON ledger.projection_actions (began_at DESC);

-- What each process has done in a minute, in numbers. A process writes once a minute, and only what is not zero.
CREATE TABLE ledger.minute_counts (
  minute  timestamptz NOT NULL,
  process text NOT NULL,
  name    text NOT NULL, -- such as 'commands accepted' or 'projection leads g1'
  count   bigint NOT NULL,
  PRIMARY KEY (minute, process, name)
);
