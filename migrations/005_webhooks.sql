-- The delivery log: where webhooks go, what was sent, and what users and operators asked for.

-- Where deliveries go: one row per user and URL. A suspended endpoint gets nothing until it resumes.
CREATE TABLE ledger.webhook_endpoints (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id          text NOT NULL,
  url              text NOT NULL,
  url_digest       bytea NOT NULL,              -- SHA-256 of url, which is too long for an index
  failing_since    timestamptz,                 -- first failure after the last success, none while healthy
  failures_in_row  smallint NOT NULL DEFAULT 0, -- the third makes a notice, and so does no later one until a success
  paused_until     timestamptz,                 -- it asked for fewer requests and gets none until then
  pause_reason     text CHECK (pause_reason IN ('too_many_requests', 'unavailable')),
  suspended_at     timestamptz,
  suspended_reason text CHECK (suspended_reason IN ('gone', 'failing')),
  probed_at        timestamptz,                 -- a probe finds out whether one suspended for failing works again
  created_at       timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, url_digest),
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL))
);

-- One row per call: the truth about its webhook. The queue holds only jobs that point here.
-- A delivery changes three times until it is delivered, and each change writes its row anew: without the body, which
-- stays where it is, and without new entries in the indexes where an attempt starts (a heap-only update), for which
-- pages keep some room. Dead rows leave entries at the front of the indexes that are read most: by default a vacuum
-- would wait until a fifth of the table is dead, and sleep while deliveries go on.
CREATE TABLE ledger.webhook_deliveries (
  id              uuid PRIMARY KEY,         -- the webhook-id
  call_id         text,                     -- null for a test delivery
  type            text NOT NULL,
  user_id         text,                     -- null when the assistant is unknown
  assistant_id    bigint,
  endpoint_id     bigint REFERENCES ledger.webhook_endpoints,
  position        bigint,                   -- of the call's event in the log; null for a test delivery
  last_position   bigint,                   -- of its latest duplicate, so that a replay counts none twice
  duplicates      integer NOT NULL DEFAULT 0,
  traceparent     text,                     -- of the call, as its event names it in W3C Trace Context, if it does
  status          text NOT NULL CHECK (status IN ('scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped')),
  reason          text,
  body            text,                     -- sent byte for byte; null when skipped or past retention
  attempt_count   integer NOT NULL DEFAULT 0, -- attempts of the schedule that were started; numbers them
  failure_count   integer NOT NULL DEFAULT 0, -- those known to have failed; drives the schedule
  crash_count     smallint NOT NULL DEFAULT 0, -- attempts in a row without an outcome: what ends its workers is held
  next_attempt_at timestamptz,
  job_number      integer NOT NULL DEFAULT 0, -- raised at every enqueue; a job with a lower number is stale
  queued_at       timestamptz,              -- takes one of the endpoint's slots until the outcome is written
  started_at      timestamptz,
  worker_token    uuid,                     -- of the attempt that is running
  held_at         timestamptz,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- newest first, also within one batch
  finished_at     timestamptz,
  erased_at       timestamptz,              -- its person was: nothing is kept of bodies, nor of later answers
  UNIQUE (call_id, type),
  CHECK ((started_at IS NULL) = (worker_token IS NULL)),
  CHECK (status <> 'scheduled' OR (endpoint_id IS NOT NULL AND body IS NOT NULL AND next_attempt_at IS NOT NULL)),
  CHECK ((held_at IS NULL) = (status <> 'held')),
  CHECK (started_at IS NULL OR queued_at IS NOT NULL) -- an attempt that runs has a slot, and is found by it
) WITH (
  toast_tuple_target = 256, fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);

-- LZ4 compresses a body in a fraction of the time of pglz, on servers that are built with it.
DO $$
BEGIN
  IF 'lz4' = ANY((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE ledger.webhook_deliveries ALTER COLUMN body SET COMPRESSION lz4;
  END IF;
END $$;

CREATE INDEX webhook_deliveries_due ON ledger.webhook_deliveries (user_id, endpoint_id, next_attempt_at)
  WHERE status = 'scheduled' AND queued_at IS NULL;
CREATE INDEX webhook_deliveries_queued_since ON ledger.webhook_deliveries (user_id, queued_at) INCLUDE (endpoint_id)
  WHERE queued_at IS NOT NULL;
-- In the order in which pending deliveries are moved: a batch begins where the one before it ended.
CREATE INDEX webhook_deliveries_pending ON ledger.webhook_deliveries (assistant_id, id)
  WHERE status IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_pending_to ON ledger.webhook_deliveries (endpoint_id, id)
  WHERE status IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_held_since ON ledger.webhook_deliveries (held_at) WHERE status = 'held';
-- Workers attempt these one at a time: the next crash shows which delivery it was.
CREATE INDEX webhook_deliveries_suspect ON ledger.webhook_deliveries (id) WHERE crash_count >= 2 AND queued_at IS NOT NULL;
CREATE INDEX webhook_deliveries_kept ON ledger.webhook_deliveries (created_at)
  WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_of_user ON ledger.webhook_deliveries (user_id, created_at DESC, id DESC)
  INCLUDE (assistant_id, call_id, status);

-- Attempts that have ended, whatever started them: a worker writes each once, with its outcome. A running attempt of the
-- schedule stands in the row of its delivery. Each month is a table of its own, which is dropped whole.
CREATE TABLE ledger.webhook_attempts (
  delivery_id        uuid NOT NULL,
  trigger            text NOT NULL DEFAULT 'schedule',
  n                  integer NOT NULL,
  endpoint_id        bigint NOT NULL,
  worker_token       uuid NOT NULL,         -- a late success of this worker still counts
  started_at         timestamptz NOT NULL,
  finished_at        timestamptz NOT NULL,
  outcome            text NOT NULL CHECK (outcome IN
    ('delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown')),
  status_code        integer,
  duration_ms        integer,
  error              text,
  response_excerpt   text,
  response_truncated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, trigger, n, started_at)
) PARTITION BY RANGE (started_at);
-- ANALYZE keeps the samples of a table without rows, which these may be past retention.
ALTER TABLE ledger.webhook_attempts ALTER error SET STATISTICS 0, ALTER response_excerpt SET STATISTICS 0;
ALTER TABLE ledger.webhook_deliveries ALTER body SET STATISTICS 0;
-- For the metric of the last minutes: rows are in about the order of their start, so that this costs writers next to
-- nothing.
CREATE INDEX webhook_attempts_recent ON ledger.webhook_attempts USING brin (started_at)
  WITH (pages_per_range = 16, autosummarize = on);

-- A table for each month, in UTC, from the one of `since` to the third one from now; those that are there stay.
CREATE FUNCTION ledger.add_attempt_months(since timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first timestamp := date_trunc('month', since AT TIME ZONE 'UTC');
  last timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '3 months';
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock('ledger.webhook_attempts'::regclass::oid::bigint);
  WHILE first <= last LOOP
    name := 'webhook_attempts_' || to_char(first, 'YYYY_MM');
    IF to_regclass('ledger.' || name) IS NULL THEN
      EXECUTE format('CREATE TABLE ledger.%I PARTITION OF ledger.webhook_attempts FOR VALUES FROM (%L) TO (%L)',
        name, first::text || '+00', (first + interval '1 month')::text || '+00');
    END IF;
    first := first + interval '1 month';
  END LOOP;
END $$;
SELECT ledger.add_attempt_months(now());

-- The queue of attempts on demand, redeliveries, tests and probes: each has its row before it is due, so that a crash
-- shows, and a number of its own. A row goes when its attempt has ended.
CREATE TABLE ledger.webhook_attempts_on_demand (
  delivery_id  uuid NOT NULL REFERENCES ledger.webhook_deliveries ON DELETE CASCADE,
  trigger      text NOT NULL CHECK (trigger IN ('manual', 'test', 'probe')),
  n            integer NOT NULL,
  user_id      text NOT NULL,
  assistant_id bigint NOT NULL,
  endpoint_id  bigint NOT NULL REFERENCES ledger.webhook_endpoints,
  due_at       timestamptz NOT NULL,
  job_number   integer NOT NULL DEFAULT 0,
  queued_at    timestamptz,
  started_at   timestamptz,
  worker_token uuid,
  PRIMARY KEY (delivery_id, trigger, n),
  CHECK ((started_at IS NULL) = (worker_token IS NULL))
) WITH (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX webhook_attempts_on_demand_of_user ON ledger.webhook_attempts_on_demand (user_id, endpoint_id);

-- When attempts of a kind were last asked for, newest first: what the limit for each minute looks at.
CREATE TABLE ledger.webhook_attempts_asked (
  assistant_id bigint NOT NULL,
  trigger      text NOT NULL,
  at           timestamptz[] NOT NULL,
  PRIMARY KEY (assistant_id, trigger)
);

-- Every attempt as it is shown: those that have ended, those on demand, and those of the schedule that run.
CREATE VIEW ledger.all_webhook_attempts AS
  SELECT delivery_id, trigger, n, endpoint_id, worker_token, NULL::timestamptz AS due_at,
         NULL::integer AS job_number, NULL::timestamptz AS queued_at, started_at, finished_at, outcome,
         status_code, duration_ms, error, response_excerpt, response_truncated
  FROM ledger.webhook_attempts
  UNION ALL
  SELECT delivery_id, trigger, n, endpoint_id, worker_token, due_at,
         job_number, queued_at, started_at, NULL, NULL,
         NULL, NULL, NULL, NULL, false
  FROM ledger.webhook_attempts_on_demand
  UNION ALL
  SELECT id, 'schedule', attempt_count, endpoint_id, worker_token, NULL,
         job_number, queued_at, started_at, NULL, NULL,
         NULL, NULL, NULL, NULL, false
  FROM ledger.webhook_deliveries WHERE started_at IS NOT NULL AND queued_at IS NOT NULL;

-- Signing secrets, encrypted; the one without an end is the current one of its owner. An assistant without a secret of
-- its own has that of the user, which names no assistant.
CREATE TABLE ledger.webhook_secrets (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id           text NOT NULL,
  assistant_id      bigint,
  key_id            text NOT NULL,                 -- which SECRET_KEY encrypted it
  sealed            bytea NOT NULL,                -- AES-256-GCM: nonce, tag, cipher text
  beside_user_until timestamptz,                   -- of an assistant's secret: until then the user's sign as well
  created_at        timestamptz NOT NULL DEFAULT now(),
  expires_at        timestamptz
);
CREATE UNIQUE INDEX webhook_secrets_current ON ledger.webhook_secrets (user_id, coalesce(assistant_id, 0))
  WHERE expires_at IS NULL;
CREATE INDEX webhook_secrets_of_user ON ledger.webhook_secrets (user_id);

-- Notices of webhooks to users, and to operators, where they have a hook for them: one row each.
CREATE TABLE ledger.webhook_notices (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id        text NOT NULL,
  type           text NOT NULL CHECK (type IN ('endpoint_failing', 'endpoint_recovered', 'endpoint_suspended', 'delivery_exhausted')),
  assistant_id   bigint,
  delivery_id    uuid,
  reason         text,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  alert_due_at   timestamptz DEFAULT clock_timestamp(), -- null once the operator's hook has it, or never will
  alert_attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX webhook_notices_of_user ON ledger.webhook_notices (user_id, id DESC);
CREATE INDEX webhook_notices_due ON ledger.webhook_notices (alert_due_at) WHERE alert_due_at IS NOT NULL;
CREATE INDEX webhook_notices_age ON ledger.webhook_notices USING brin (at);

-- What users asked to be sent again and is not scheduled yet: done in small batches, from the oldest delivery on.
CREATE TABLE ledger.webhook_recoveries (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id       text NOT NULL,
  assistant_id  bigint NOT NULL,
  statuses      text[] NOT NULL,
  after_created timestamptz NOT NULL,      -- all up to this delivery are done
  after_id      uuid NOT NULL,
  until         timestamptz NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_recoveries_of_assistant ON ledger.webhook_recoveries (assistant_id);

-- Assistants whose webhook was switched or has another URL: their pending deliveries are moved in batches. Until a
-- delivery is moved, no attempt of it starts.
CREATE TABLE ledger.moving_assistants (
  assistant_id bigint PRIMARY KEY,
  endpoint_id  bigint REFERENCES ledger.webhook_endpoints, -- where they go; null: they are held, the webhook is off
  after_id     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000' -- all up to this delivery are moved
);

-- Endpoints that were suspended or resumed: their pending deliveries follow what the row of the endpoint says.
CREATE TABLE ledger.moving_endpoints (
  endpoint_id bigint PRIMARY KEY REFERENCES ledger.webhook_endpoints,
  after_id    uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
