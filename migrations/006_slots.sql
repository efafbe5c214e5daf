-- Which deliveries are attempted next: how many of an endpoint and of a user may be queued or running at a time.

-- Where a look for what is due begins. Each delivery leaves entries at the front of the indexes that are read most, and
-- while a snapshot is open (a backup, a standby with feedback) no vacuum removes them. At each pass the reconciler notes
-- before when nothing is left, with room for what was not committed yet. What is older all the same, which is rare,
-- waits for its next pass.
CREATE TABLE ledger.due_since (
  only_row        boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  next_attempt_at timestamptz NOT NULL, -- nothing that was due before waits, except of the users below
  queued_at       timestamptz NOT NULL, -- nothing has had a slot since before
  noted_at        timestamptz NOT NULL  -- believed for a minute
);

-- Users of whom something has waited for longer.
CREATE TABLE ledger.users_due_since (
  user_id         text PRIMARY KEY,
  next_attempt_at timestamptz NOT NULL
);

CREATE FUNCTION ledger.due_since (text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT coalesce((SELECT next_attempt_at FROM ledger.users_due_since WHERE user_id = $1), next_attempt_at)
    FROM ledger.due_since WHERE noted_at > clock_timestamp() - interval '1 minute'), '-infinity')
$$;

CREATE FUNCTION ledger.queued_since () RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT queued_at FROM ledger.due_since WHERE noted_at > clock_timestamp() - interval '1 minute'), '-infinity')
$$;

-- What of these users waits without a slot: of each endpoint the delivery that has been due for longest, where one is.
-- It steps from endpoint to endpoint in the index, so it costs the number of endpoints that wait, not of their deliveries.
CREATE FUNCTION ledger.waiting (user_ids text[])
RETURNS TABLE (user_id text, since timestamptz, endpoint_id bigint, first_due timestamptz) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE asked (user_id, since) AS MATERIALIZED (
    SELECT user_id, ledger.due_since(user_id) FROM unnest(user_ids) AS u (user_id)
  ), waiting (user_id, since, endpoint_id, first_due) AS (
    SELECT u.user_id, u.since, first.endpoint_id, first.next_attempt_at
    FROM asked u
    CROSS JOIN LATERAL (
      SELECT endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = u.user_id AND next_attempt_at >= u.since AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY endpoint_id, next_attempt_at LIMIT 1) first
    UNION
    SELECT w.user_id, w.since, next.endpoint_id, next.next_attempt_at
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT endpoint_id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = w.user_id AND endpoint_id > w.endpoint_id AND next_attempt_at >= w.since
        AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY endpoint_id, next_attempt_at LIMIT 1) next
  )
  SELECT user_id, since, endpoint_id, first_due FROM waiting
$$;

-- Of whom of these users something is due that has no slot yet. As slots are given, it begins where the last pass found
-- nothing older. Both functions keep one plan for any number of users: making one takes Postgres longer than giving
-- slots. The plan may be from when the tables were empty, and is kept until they are analyzed, so it must not read them
-- whole.
CREATE FUNCTION ledger.due_users (user_ids text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY
    SELECT w.user_id FROM ledger.waiting(user_ids) w WHERE w.first_due <= clock_timestamp()
    UNION
    SELECT a.user_id FROM ledger.webhook_attempts_on_demand a
    WHERE a.user_id = ANY(user_ids) AND a.queued_at IS NULL AND a.due_at <= clock_timestamp();
END $$;

-- Gives free slots to what is due of these users, and numbers the next job of each: one statement for a worker, where a
-- lock, two statements and the ends of a transaction would be five. Acquiring is serial for each user: the lock comes
-- first, so that what follows sees what its last holder wrote.
CREATE FUNCTION ledger.acquire_slots (
  user_ids text[],
  lock_space integer,   -- of the advisory locks of users
  per_endpoint integer, -- most slots of an endpoint
  per_user integer,     -- most slots of a user
  shared integer,       -- those of them that any endpoint may have
  answering bigint[]    -- endpoints whose attempt has just succeeded
) RETURNS TABLE (id uuid, n integer, job_number integer, trigger text) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  queued_since CONSTANT timestamptz := ledger.queued_since();
BEGIN
  PERFORM pg_advisory_xact_lock(lock_space, key)
  FROM (SELECT DISTINCT hashtext(user_id) AS key FROM unnest(user_ids) AS u (user_id) ORDER BY 1) AS keys;

  -- Attempts on demand go first: they are few, and somebody waits for them.
  IF EXISTS (
    SELECT FROM ledger.webhook_attempts_on_demand
    WHERE queued_at IS NULL AND user_id = ANY(user_ids)
  ) THEN
    RETURN QUERY
    WITH waiting AS (
      SELECT delivery_id, trigger, n, user_id, endpoint_id, due_at,
             row_number() OVER (PARTITION BY user_id, endpoint_id ORDER BY due_at, delivery_id, trigger, n) AS nth
      FROM ledger.webhook_attempts_on_demand
      WHERE user_id = ANY(user_ids) AND queued_at IS NULL
        AND due_at <= clock_timestamp()
    ), fitting AS (
      SELECT w.*, row_number() OVER (PARTITION BY user_id ORDER BY due_at, delivery_id, trigger, n) AS nth_of_user
      FROM waiting w WHERE nth <= per_endpoint - (
        (SELECT count(*) FROM ledger.webhook_deliveries q
         WHERE q.user_id = w.user_id AND q.endpoint_id = w.endpoint_id AND q.queued_at >= queued_since)
        + (SELECT count(*) FROM ledger.webhook_attempts_on_demand p
           WHERE p.user_id = w.user_id AND p.endpoint_id = w.endpoint_id AND p.queued_at IS NOT NULL))
    ), chosen AS (
      SELECT * FROM fitting f WHERE nth_of_user <= per_user - (
        (SELECT count(*) FROM ledger.webhook_deliveries q WHERE q.user_id = f.user_id AND q.queued_at >= queued_since)
        + (SELECT count(*) FROM ledger.webhook_attempts_on_demand p
           WHERE p.user_id = f.user_id AND p.queued_at IS NOT NULL))
    )
    UPDATE ledger.webhook_attempts_on_demand a
    SET queued_at = clock_timestamp(), job_number = job_number + 1
    FROM chosen c WHERE (a.delivery_id, a.trigger, a.n) = (c.delivery_id, c.trigger, c.n)
    RETURNING a.delivery_id AS id, a.n, a.job_number, a.trigger;
  END IF;

  -- Attempts of the schedule. Only endpoints with free slots whose first delivery has waited for longest are read.
  -- `turn` counts the slots that an endpoint has with those that it gets: all endpoints of a user have a first slot
  -- before any has a second one. The last slots of a user are for endpoints that have no more than one, so that those
  -- which hang leave room for one that answers: as its attempts succeed, and none of them is two seconds old, it may have
  -- all of the last slots but two. An endpoint that fails gets one until it succeeds. What must move first is left out
  -- after it was counted: so a million of those cost no more than a few. Of deliveries whose next crash, the third, is
  -- their last one at a time has a slot: the others in flight did not end the worker.
  RETURN QUERY
    WITH busy AS (
      SELECT user_id, endpoint_id, count(*) AS in_use, min(queued_at) AS oldest
      FROM (SELECT user_id, endpoint_id, queued_at FROM ledger.webhook_deliveries
            WHERE user_id = ANY(user_ids) AND queued_at >= queued_since
            UNION ALL
            SELECT user_id, endpoint_id, queued_at FROM ledger.webhook_attempts_on_demand
            WHERE user_id = ANY(user_ids) AND queued_at IS NOT NULL) queued
      GROUP BY user_id, endpoint_id
    ), free AS (
      SELECT w.user_id, w.since, w.endpoint_id, coalesce(b.in_use, 0) AS in_use,
             w.endpoint_id = ANY(answering) AND coalesce(b.oldest > clock_timestamp() - interval '2 seconds', true) AS answers,
             CASE WHEN e.failing_since IS NULL THEN per_endpoint ELSE 1 END - coalesce(b.in_use, 0) AS slots,
             row_number() OVER (PARTITION BY w.user_id ORDER BY coalesce(b.in_use, 0), w.first_due) AS nth
      FROM ledger.waiting(user_ids) w
      LEFT JOIN busy b USING (user_id, endpoint_id)
      JOIN ledger.webhook_endpoints e ON e.id = endpoint_id
      WHERE w.first_due <= clock_timestamp() AND e.suspended_at IS NULL
        AND (e.paused_until IS NULL OR e.paused_until <= clock_timestamp())
        AND coalesce(b.in_use, 0) < CASE WHEN e.failing_since IS NULL THEN per_endpoint ELSE 1 END
    ), due AS (
      SELECT f.user_id, f.answers, d.id, d.next_attempt_at, d.is_suspect,
             f.in_use + row_number() OVER (PARTITION BY f.endpoint_id ORDER BY d.next_attempt_at, d.id) AS turn
      FROM free f
      CROSS JOIN LATERAL (
        SELECT id, next_attempt_at, assistant_id, crash_count >= 2 AS is_suspect
        FROM ledger.webhook_deliveries
        WHERE user_id = f.user_id AND endpoint_id = f.endpoint_id AND status = 'scheduled' AND queued_at IS NULL
          AND next_attempt_at BETWEEN f.since AND clock_timestamp()
          AND NOT (crash_count >= 2 AND EXISTS (
            SELECT FROM ledger.webhook_deliveries other
            WHERE other.crash_count >= 2 AND other.queued_at IS NOT NULL))
        ORDER BY next_attempt_at LIMIT f.slots) d
      WHERE f.nth <= per_user AND NOT EXISTS (
        SELECT FROM ledger.moving_assistants move
        WHERE move.assistant_id = d.assistant_id AND move.endpoint_id IS DISTINCT FROM f.endpoint_id)
    ), capped AS (
      SELECT *, CASE WHEN turn <= 2 THEN per_user WHEN answers THEN per_user - 2 ELSE shared END AS most FROM due
    ), in_order AS (
      SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY most DESC, turn, next_attempt_at, id) AS nth FROM capped
    ), users AS (
      SELECT user_id, sum(in_use) AS in_use FROM busy GROUP BY user_id
    )
    UPDATE ledger.webhook_deliveries d
    SET queued_at = clock_timestamp(), job_number = job_number + 1
    -- by primary key: an equality on status would tempt the planner to scan all that is due
    WHERE d.id = ANY (ARRAY (
        SELECT o.id FROM in_order o LEFT JOIN users USING (user_id)
        WHERE o.nth <= o.most - coalesce(users.in_use, 0)
          AND (NOT o.is_suspect OR o.id = (SELECT id FROM in_order WHERE is_suspect ORDER BY next_attempt_at, id LIMIT 1))))
      AND d.status NOT IN ('delivered', 'held', 'exhausted', 'cancelled', 'skipped')
    RETURNING d.id, d.attempt_count + 1 AS n, d.job_number, NULL::text AS trigger;
END $$;

-- The delivery log as the next sender keeps it: the log is the queue, and an assistant's webhook is the job. Two tables
-- have names of others above, so all are in a schema of their own until that sender takes over and they move to `ledger`.
CREATE SCHEMA sender;

-- An assistant's webhook: all that a claim needs. A change of it is a change of this row, however much is pending.
CREATE TABLE sender.webhooks (
  assistant_id     bigint PRIMARY KEY,
  user_id          text NOT NULL,
  url              text,                          -- as it is called; null when there is none
  off_since        timestamptz,
  deleted_at       timestamptz,                   -- of the assistant: what is pending is sent, what is held is not
  revision         bigint NOT NULL DEFAULT 1,     -- raised by each change: a verdict of an older one is of a former webhook
  restarted_at     timestamptz NOT NULL DEFAULT '-infinity', -- no schedule begins earlier
  is_hastening     boolean NOT NULL DEFAULT false, -- more that waits for a retry is to be due now
  failing_since    timestamptz,                   -- first failure after the last success
  failures_in_row  smallint NOT NULL DEFAULT 0,   -- counted up to the third, of which the user is told
  failed_at        timestamptz,                   -- the last failure
  succeeded_at     timestamptz,                   -- the success that ended failures last
  paused_until     timestamptz,
  pause_reason     text CHECK (pause_reason IN ('too_many_requests', 'unavailable')),
  suspended_at     timestamptz,
  suspended_reason text CHECK (suspended_reason IN ('gone', 'failing')),
  probed_at        timestamptz,
  waits_since      timestamptz,                   -- something is due, and its user had no room
  max_per_second   smallint,
  tokens           real NOT NULL DEFAULT 0,       -- left of that second, at `tokens_at`
  tokens_at        timestamptz NOT NULL DEFAULT 'epoch',
  headers_key_id   text,                          -- which SECRET_KEY encrypted the user's headers
  headers          bytea,
  CHECK (url IS NOT NULL OR off_since IS NOT NULL),
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhooks_waiting ON sender.webhooks (user_id, waits_since) WHERE waits_since IS NOT NULL;
CREATE INDEX webhooks_hastening ON sender.webhooks (assistant_id) WHERE is_hastening;

-- One row per call or test: the truth about its webhook. An attempt changes no index until the last one, and never moves
-- the body.
CREATE TABLE sender.webhook_deliveries (
  id              uuid PRIMARY KEY,         -- the webhook-id
  call_id         text,                     -- null for a test
  type            text NOT NULL,
  user_id         text,                     -- null when the assistant is unknown
  assistant_id    bigint,
  position        bigint,                   -- of the call's event in the log
  last_position   bigint,                   -- of its latest duplicate, so that a replay counts none twice
  duplicates      integer NOT NULL DEFAULT 0,
  traceparent     text,
  status          text NOT NULL CHECK (status IN ('scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped')),
  reason          text,                     -- `held` here says that it ended its workers; else the webhook's row does
  body            text,                     -- sent byte for byte; null when skipped or past retention
  attempt_count   integer NOT NULL DEFAULT 0, -- attempts of the schedule that have ended
  failures        integer NOT NULL DEFAULT 0, -- since `failures_from`, where that is when its schedule began
  failures_from   timestamptz NOT NULL DEFAULT '-infinity',
  recovered_at    timestamptz NOT NULL DEFAULT '-infinity',
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at     timestamptz,              -- since then the schedule does nothing
  erased_at       timestamptz,
  UNIQUE (call_id, type),
  CHECK (status <> 'scheduled' OR body IS NOT NULL)
) WITH (
  toast_tuple_target = 256, fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);
DO $$
BEGIN
  IF 'lz4' = ANY((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE sender.webhook_deliveries ALTER COLUMN body SET COMPRESSION lz4;
  END IF;
END $$;
ALTER TABLE sender.webhook_deliveries ALTER body SET STATISTICS 0;
CREATE INDEX webhook_deliveries_of_user ON sender.webhook_deliveries (user_id, created_at DESC, id DESC)
  INCLUDE (assistant_id, call_id, status);
CREATE INDEX webhook_deliveries_kept ON sender.webhook_deliveries (created_at)
  WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_held ON sender.webhook_deliveries (finished_at) WHERE status = 'held';

-- An attempt to make, or that runs; the row goes when there is none.
CREATE TABLE sender.webhook_due (
  delivery_id  uuid NOT NULL,
  trigger      text NOT NULL CHECK (trigger IN ('schedule', 'manual', 'test', 'probe')),
  n            integer NOT NULL DEFAULT 1,    -- of the attempt, by trigger
  assistant_id bigint NOT NULL,
  user_id      text NOT NULL,
  due_at       timestamptz NOT NULL,
  crashes      smallint NOT NULL DEFAULT 0,   -- attempts in a row that ended with their worker
  more         smallint NOT NULL DEFAULT 0,   -- as often it was asked for again before it was made
  worker       bigint,                        -- while it runs
  started_at   timestamptz,
  PRIMARY KEY (delivery_id, trigger),
  CHECK ((worker IS NULL) = (started_at IS NULL))
) WITH (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05
);
CREATE INDEX webhook_due_next ON sender.webhook_due (assistant_id, due_at)
  WHERE worker IS NULL AND crashes < 2 AND trigger = 'schedule';
CREATE INDEX webhook_due_asked ON sender.webhook_due (assistant_id, due_at)
  WHERE worker IS NULL AND crashes < 2 AND trigger <> 'schedule';
CREATE INDEX webhook_due_suspect ON sender.webhook_due (assistant_id, due_at) WHERE worker IS NULL AND crashes >= 2;
CREATE INDEX webhook_due_running ON sender.webhook_due (user_id, assistant_id) WHERE worker IS NOT NULL;

-- Processes that send, a row for each incarnation. One that is silent is removed, and what it had is made again.
CREATE TABLE sender.webhook_workers (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  holder       text NOT NULL,
  beat_at      timestamptz NOT NULL DEFAULT now(),
  steady_since timestamptz NOT NULL DEFAULT now() -- no heartbeat was late since
) WITH (fillfactor = 50);

-- Attempts that have ended. Each month is a table of its own, made ahead and dropped whole; one catches the rest.
CREATE TABLE sender.webhook_attempts (
  delivery_id        uuid NOT NULL,
  trigger            text NOT NULL,
  n                  integer NOT NULL,
  started_at         timestamptz NOT NULL,
  finished_at        timestamptz NOT NULL,
  url                text,                  -- without its query
  header_names       text,                  -- of the user's own
  outcome            text NOT NULL CHECK (outcome IN
    ('delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown')),
  status_code        integer,
  duration_ms        integer,
  error              text,
  response_excerpt   text,
  response_truncated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, trigger, started_at)
) PARTITION BY RANGE (started_at);
ALTER TABLE sender.webhook_attempts ALTER error SET STATISTICS 0, ALTER response_excerpt SET STATISTICS 0;
CREATE TABLE sender.webhook_attempts_rest PARTITION OF sender.webhook_attempts DEFAULT;
CREATE INDEX webhook_attempts_recent ON sender.webhook_attempts USING brin (started_at)
  WITH (pages_per_range = 16, autosummarize = on);
