-- Up Migration

-- Where deliveries go: one row per user and URL. A suspended endpoint gets nothing until it is released.
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

-- One row per call: the truth about its webhook. The queue only holds wake-ups that point here.
CREATE TABLE ledger.webhook_deliveries (
  id              uuid PRIMARY KEY,         -- the webhook-id
  call_id         text,                     -- null for a test delivery
  type            text NOT NULL,
  user_id         text,                     -- null when the assistant is unknown
  assistant_id    bigint,
  endpoint_id     bigint REFERENCES ledger.webhook_endpoints,
  position        bigint NOT NULL,          -- of the call's event in the log
  last_position   bigint NOT NULL,          -- of its latest duplicate, so that a replay counts none twice
  duplicates      integer NOT NULL DEFAULT 0,
  status          text NOT NULL CHECK (status IN ('scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped')),
  reason          text,
  body            text,                     -- sent byte for byte; null when skipped or past retention
  attempt_count   integer NOT NULL DEFAULT 0, -- attempts of the schedule that were started; numbers them
  failure_count   integer NOT NULL DEFAULT 0, -- those known to have failed; drives the schedule
  next_attempt_at timestamptz,
  wakeup          integer NOT NULL DEFAULT 0, -- raised at every enqueue; older wake-ups are stale
  queued_at       timestamptz,              -- takes one of the endpoint's places, until the outcome is written
  started_at      timestamptz,
  worker_token    uuid,                     -- of the attempt that is running
  created_at      timestamptz NOT NULL DEFAULT now(),
  finished_at     timestamptz,
  UNIQUE (call_id, type),
  CHECK ((started_at IS NULL) = (worker_token IS NULL)),
  CHECK (status <> 'scheduled' OR (endpoint_id IS NOT NULL AND body IS NOT NULL AND next_attempt_at IS NOT NULL))
);

CREATE INDEX webhook_deliveries_due ON ledger.webhook_deliveries (user_id, endpoint_id, next_attempt_at)
  WHERE status = 'scheduled' AND queued_at IS NULL;
CREATE INDEX webhook_deliveries_queued ON ledger.webhook_deliveries (user_id, endpoint_id) WHERE queued_at IS NOT NULL;
CREATE INDEX webhook_deliveries_started ON ledger.webhook_deliveries (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX webhook_deliveries_pending ON ledger.webhook_deliveries (assistant_id) WHERE status IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_held ON ledger.webhook_deliveries (endpoint_id) WHERE status = 'held';
CREATE INDEX webhook_deliveries_of_user ON ledger.webhook_deliveries (user_id, created_at DESC);

-- Written before the request leaves, so that a crash shows. Manual and test attempts are numbered apart.
CREATE TABLE ledger.webhook_attempts (
  delivery_id        uuid NOT NULL REFERENCES ledger.webhook_deliveries ON DELETE CASCADE,
  trigger            text NOT NULL CHECK (trigger IN ('schedule', 'manual', 'test')),
  n                  integer NOT NULL,
  worker_token       uuid NOT NULL,
  endpoint_id        bigint NOT NULL REFERENCES ledger.webhook_endpoints,
  started_at         timestamptz NOT NULL,
  finished_at        timestamptz,
  outcome            text CHECK (outcome IN
    ('delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown')),
  status_code        integer,
  duration_ms        integer,
  error              text,
  response_excerpt   text,
  response_truncated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, trigger, n),
  CHECK ((finished_at IS NULL) = (outcome IS NULL))
);

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
