-- Up Migration

-- Who may run a projection, the dispatcher or the reconciler. The epoch rises at every take-over and
-- fences off a former owner that wakes up late.
CREATE TABLE ledger.leases (
  name       text PRIMARY KEY,
  epoch      bigint NOT NULL,
  holder     text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Which generation of each projection readers see.
CREATE TABLE ledger.projections (
  name              text PRIMARY KEY,
  active_generation integer NOT NULL
);

-- Events that a consumer could not read, and all later events of their streams.
CREATE TABLE ledger.quarantine (
  consumer       text NOT NULL,
  stream         text NOT NULL,
  revision       bigint NOT NULL,
  position       bigint NOT NULL,
  event_type     text NOT NULL,
  error          text NOT NULL,
  quarantined_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, stream, revision)
);

-- Ids are taken in blocks of the increment; gaps are fine, reuse is not.
CREATE SEQUENCE ledger.assistant_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.lead_ids INCREMENT BY 200;
