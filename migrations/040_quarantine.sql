-- Up Migration

-- Events that an operator has given up: the live projection and every rebuild pass over them.
CREATE TABLE ledger.skips (
  projection text NOT NULL,
  stream     text NOT NULL,
  revision   bigint NOT NULL,
  reason     text NOT NULL,
  skipped_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (projection, stream, revision)
);

-- A generation that refused too many streams at once, and up to where: it waits there. Once released it sets aside
-- what it refuses up to there; when the checkpoint has passed, the row is gone.
CREATE TABLE ledger.brakes (
  consumer    text PRIMARY KEY,
  position    bigint NOT NULL,
  streams     integer NOT NULL,
  error       text NOT NULL,
  stopped_at  timestamptz NOT NULL DEFAULT now(),
  released_at timestamptz
);

CREATE INDEX quarantine_age ON ledger.quarantine (consumer, quarantined_at);
