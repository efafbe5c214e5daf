-- Up Migration

-- Where deliveries go: one row per user and URL. A suspended endpoint gets nothing until it resumes.
CREATE TABLE ledger.webhook_endpoints (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id          text NOT NULL,
  url              text NOT NULL,
  url_digest       bytea NOT NULL,          -- SHA-256 of url, which is too long for an index
  failing_since    timestamptz,             -- first failure after the last success, none while healthy
  suspended_at     timestamptz,
  suspended_reason text CHECK (suspended_reason IN ('gone', 'failing')),
  created_at       timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, url_digest),
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL))
);

-- One row per call: the truth about its webhook. The queue holds only jobs that point here.
-- A delivery changes three times until it is delivered, and each change writes its row anew: without the body, which
-- stays where it is, and without new entries in the indexes where an attempt starts (a heap-only update), for which
-- pages keep some room.
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
  status          text NOT NULL CHECK (status IN ('scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped')),
  reason          text,
  body            text,                     -- sent byte for byte; null when skipped or past retention
  attempt_count   integer NOT NULL DEFAULT 0, -- attempts of the schedule that were started; numbers them
  failure_count   integer NOT NULL DEFAULT 0, -- those known to have failed; drives the schedule
  next_attempt_at timestamptz,
  job_number      integer NOT NULL DEFAULT 0, -- raised at every enqueue; a job with a lower number is stale
  queued_at       timestamptz,              -- takes one of the endpoint's slots until the outcome is written
  started_at      timestamptz,
  worker_token    uuid,                     -- of the attempt that is running
  held_at         timestamptz,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- newest first, also within one batch
  finished_at     timestamptz,
  UNIQUE (call_id, type),
  CHECK ((started_at IS NULL) = (worker_token IS NULL)),
  CHECK (status <> 'scheduled' OR (endpoint_id IS NOT NULL AND body IS NOT NULL AND next_attempt_at IS NOT NULL)),
  CHECK ((held_at IS NULL) = (status <> 'held')),
  CHECK (started_at IS NULL OR queued_at IS NOT NULL) -- an attempt that runs has a slot, and is found by it
) WITH (toast_tuple_target = 256, fillfactor = 70);

CREATE INDEX webhook_deliveries_due ON ledger.webhook_deliveries (user_id, endpoint_id, next_attempt_at)
  WHERE status = 'scheduled' AND queued_at IS NULL;
CREATE INDEX webhook_deliveries_queued ON ledger.webhook_deliveries (user_id, endpoint_id) WHERE queued_at IS NOT NULL;
CREATE INDEX webhook_deliveries_pending ON ledger.webhook_deliveries (assistant_id) WHERE status IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_held ON ledger.webhook_deliveries (endpoint_id) WHERE status = 'held';
CREATE INDEX webhook_deliveries_held_since ON ledger.webhook_deliveries (held_at) WHERE status = 'held';
CREATE INDEX webhook_deliveries_kept ON ledger.webhook_deliveries (created_at)
  WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_of_user ON ledger.webhook_deliveries (user_id, created_at DESC, id DESC)
  INCLUDE (assistant_id, call_id, status);

-- Written before the request leaves, so that a crash shows. Manual and test attempts are numbered apart. They
-- have their row before they are due: the row is durable, and a job points to it. Attempts of the schedule have their
-- row from their start on; their owner and their due time stand in the row of the delivery.
CREATE TABLE ledger.webhook_attempts (
  delivery_id        uuid NOT NULL REFERENCES ledger.webhook_deliveries ON DELETE CASCADE,
  trigger            text NOT NULL CHECK (trigger IN ('schedule', 'manual', 'test')),
  n                  integer NOT NULL,
  user_id            text,
  assistant_id       bigint,
  endpoint_id        bigint NOT NULL REFERENCES ledger.webhook_endpoints,
  due_at             timestamptz,
  job_number         integer NOT NULL DEFAULT 0,
  queued_at          timestamptz,
  started_at         timestamptz,
  worker_token       uuid,
  finished_at        timestamptz,
  outcome            text CHECK (outcome IN
    ('delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown')),
  status_code        integer,
  duration_ms        integer,
  error              text,
  response_excerpt   text,
  response_truncated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, trigger, n),
  CHECK ((finished_at IS NULL) = (outcome IS NULL)),
  CHECK ((started_at IS NULL) = (worker_token IS NULL)),
  CHECK (CASE WHEN trigger = 'schedule' THEN started_at IS NOT NULL
              ELSE user_id IS NOT NULL AND assistant_id IS NOT NULL AND due_at IS NOT NULL END)
);
CREATE INDEX webhook_attempts_on_demand ON ledger.webhook_attempts (user_id, endpoint_id)
  WHERE trigger <> 'schedule' AND outcome IS NULL;
CREATE INDEX webhook_attempts_on_demand_recent ON ledger.webhook_attempts (assistant_id, trigger, due_at)
  WHERE trigger <> 'schedule';
-- For the metric of the last minutes: rows are in about the order of their start, so that this costs writers next to
-- nothing.
CREATE INDEX webhook_attempts_recent ON ledger.webhook_attempts USING brin (started_at)
  WITH (pages_per_range = 16, autosummarize = on);

-- Signing secrets, encrypted; the one without an end is the current one of its user.
CREATE TABLE ledger.webhook_secrets (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id    text NOT NULL,
  key_id     text NOT NULL,                 -- which SECRET_KEY encrypted it
  sealed     bytea NOT NULL,                -- AES-256-GCM: nonce, tag, cipher text
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz
);
CREATE UNIQUE INDEX webhook_secrets_current ON ledger.webhook_secrets (user_id) WHERE expires_at IS NULL;
CREATE INDEX webhook_secrets_of_user ON ledger.webhook_secrets (user_id);

-- The dispatcher's own fold, so that what is sent follows from the place of the call in the log and from nothing else.
-- json, not jsonb: order and every escape stay as they were written.
CREATE TABLE ledger.dispatch_assistants (
  assistant_id bigint PRIMARY KEY,
  user_id      text NOT NULL,
  revision     bigint NOT NULL,
  settings     json NOT NULL
);

CREATE TABLE ledger.dispatch_leads (
  contact_id   bigint PRIMARY KEY,          -- a lead or a secondary contact: one sequence of ids
  user_id      text NOT NULL,
  campaign_id  bigint NOT NULL,
  phone_number text NOT NULL,
  variables    json NOT NULL,
  status       text NOT NULL
);

CREATE TABLE ledger.dispatch_campaigns (
  campaign_id bigint PRIMARY KEY,
  revision    bigint NOT NULL,
  name        json NOT NULL
);

CREATE TABLE ledger.dispatcher_checkpoint (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  position   bigint NOT NULL DEFAULT 0,
  epoch      bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO ledger.dispatcher_checkpoint DEFAULT VALUES;
