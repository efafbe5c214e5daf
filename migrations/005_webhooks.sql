-- The delivery log is the queue, and an assistant's webhook is the job: what was sent, what is to be sent, and what users
-- and operators asked for.

-- An assistant's webhook: all that a claim needs. A change of it is a change of this row, however much is pending.
CREATE TABLE ledger.webhooks (
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
  manual_asked     timestamptz[],                 -- when redeliveries were asked for last, newest first: ten a minute
  test_asked       timestamptz[],
  waits_since      timestamptz,                   -- something is due, and its user had no room
  due_from         timestamptz NOT NULL DEFAULT '-infinity', -- nothing that waits was due before
  max_per_second   smallint,
  tokens           real NOT NULL DEFAULT 0,       -- left of that second, at `tokens_at`
  tokens_at        timestamptz NOT NULL DEFAULT 'epoch',
  headers_key_id   text,                          -- which SECRET_KEY encrypted the user's headers
  headers          bytea,
  CHECK (url IS NOT NULL OR off_since IS NOT NULL),
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX webhooks_waiting ON ledger.webhooks (user_id, waits_since) WHERE waits_since IS NOT NULL;
CREATE INDEX webhooks_hastening ON ledger.webhooks (assistant_id) WHERE is_hastening;
-- What operators look at.
CREATE INDEX webhooks_suspended ON ledger.webhooks (suspended_at) WHERE suspended_at IS NOT NULL;
CREATE INDEX webhooks_paused ON ledger.webhooks (paused_until) WHERE paused_until IS NOT NULL;
CREATE INDEX webhooks_failing ON ledger.webhooks (failing_since) WHERE failing_since IS NOT NULL;

-- One row per call or test: the truth about its webhook. An attempt changes no index unless its outcome is another one
-- than that of the attempt before, and never moves the body.
CREATE TABLE ledger.webhook_deliveries (
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
  outcome         text,                     -- of the attempt that ended last
  status_code     integer,
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
    ALTER TABLE ledger.webhook_deliveries ALTER COLUMN body SET COMPRESSION lz4;
  END IF;
END $$;
ALTER TABLE ledger.webhook_deliveries ALTER body SET STATISTICS 0;
CREATE INDEX webhook_deliveries_of_user ON ledger.webhook_deliveries (user_id, created_at DESC, id DESC)
  INCLUDE (assistant_id, call_id, status, outcome, status_code);
CREATE INDEX webhook_deliveries_kept ON ledger.webhook_deliveries (created_at)
  WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_rest ON ledger.webhook_deliveries (created_at)
  WHERE body IS NULL OR status IN ('scheduled', 'held');
-- What its user looks for among a million: nothing of a call whose receiver answered 200 at once.
CREATE INDEX webhook_deliveries_failed ON ledger.webhook_deliveries (user_id, outcome, created_at DESC, id DESC)
  WHERE outcome <> 'delivered';
CREATE INDEX webhook_deliveries_answered ON ledger.webhook_deliveries (user_id, status_code, created_at DESC, id DESC)
  WHERE status_code <> 200;
CREATE INDEX webhook_deliveries_ended ON ledger.webhook_deliveries (user_id, status, created_at DESC, id DESC)
  WHERE status IN ('exhausted', 'cancelled');
CREATE INDEX webhook_deliveries_over ON ledger.webhook_deliveries (status, created_at DESC, id DESC) INCLUDE (reason)
  WHERE status IN ('exhausted', 'cancelled', 'skipped'); -- of all users
CREATE INDEX webhook_deliveries_held ON ledger.webhook_deliveries (finished_at) WHERE status = 'held';

-- An attempt to make, or that runs; the row goes when there is none.
CREATE TABLE ledger.webhook_due (
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
CREATE INDEX webhook_due_next ON ledger.webhook_due (assistant_id, due_at) WHERE worker IS NULL AND trigger = 'schedule';
CREATE INDEX webhook_due_asked ON ledger.webhook_due (assistant_id, due_at) WHERE worker IS NULL AND trigger <> 'schedule';
CREATE INDEX webhook_due_suspect ON ledger.webhook_due (assistant_id, due_at) WHERE worker IS NULL AND crashes >= 2;
CREATE INDEX webhook_due_running ON ledger.webhook_due (user_id, started_at) WHERE worker IS NOT NULL;

-- Processes that send, a row for each incarnation. One that is silent is removed, and what it had is made again.
CREATE TABLE ledger.webhook_workers (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  holder       text NOT NULL,
  beat_at      timestamptz NOT NULL DEFAULT now(),
  steady_since timestamptz NOT NULL DEFAULT now() -- no heartbeat was late since
) WITH (fillfactor = 50);

-- Attempts that have ended. Each month is a table of its own, made ahead and dropped whole; one catches the rest.
CREATE TABLE ledger.webhook_attempts (
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
ALTER TABLE ledger.webhook_attempts ALTER error SET STATISTICS 0, ALTER response_excerpt SET STATISTICS 0;
CREATE TABLE ledger.webhook_attempts_rest PARTITION OF ledger.webhook_attempts DEFAULT;
CREATE INDEX webhook_attempts_recent ON ledger.webhook_attempts USING brin (started_at)
  WITH (pages_per_range = 16, autosummarize = on);

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
