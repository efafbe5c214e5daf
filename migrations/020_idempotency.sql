-- Up Migration

-- One row per user, method, route and key. Only committed commands keep theirs, for 24 hours; a row without
-- `committed_at` whose lease is over belongs to a request that crashed, and the next one with the key takes it over.
CREATE TABLE ledger.idempotency_keys (
  user_id      text NOT NULL,
  method       text NOT NULL,
  route        text NOT NULL,
  key          text NOT NULL,
  request_hash bytea NOT NULL,
  command_id   uuid NOT NULL,
  ids          bigint[] NOT NULL,
  leased_until timestamptz NOT NULL,
  stream       text,
  revision     bigint,
  created_at   timestamptz NOT NULL DEFAULT now(),
  committed_at timestamptz,
  PRIMARY KEY (user_id, method, route, key)
);
CREATE INDEX idempotency_keys_age ON ledger.idempotency_keys (created_at);
