-- Up Migration

-- How far the calls of the log were counted, to compare them with their rows in the delivery log.
CREATE TABLE ledger.identity_count (
  only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  position    bigint NOT NULL DEFAULT 0,  -- of the log: all calls up to it are in `calls`
  calls       bigint NOT NULL DEFAULT 0,
  unaccounted bigint,                     -- as of the last time that both were counted at one place; none before
  counted_at  timestamptz
);
INSERT INTO ledger.identity_count DEFAULT VALUES;
