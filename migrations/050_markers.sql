-- Up Migration

-- This database, by a name that no other one has, and what it must not do again after it or the log was restored.
CREATE TABLE ledger.incarnation (
  only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id           uuid NOT NULL DEFAULT gen_random_uuid(),
  silent_until bigint NOT NULL DEFAULT 0,   -- a call up to this position that has no delivery gets one that is not sent
  refold_until bigint NOT NULL DEFAULT 0    -- up to this position the dispatcher reads again what it has acted on
);
INSERT INTO ledger.incarnation DEFAULT VALUES;

-- The markers in the log that this database knows: those that its dispatcher wrote, noted before they were appended,
-- and those that an operator told it to go on after.
CREATE TABLE ledger.markers (
  id       uuid PRIMARY KEY,                -- of the event
  revision bigint,                          -- null until the append was acknowledged
  position bigint,
  sends    boolean NOT NULL DEFAULT false,  -- the ledger knows of the calls up to it
  ids      boolean NOT NULL DEFAULT false,  -- the sequences are past the ids in it
  noted_at timestamptz NOT NULL DEFAULT now()
);

-- No higher id was given out by this sequence.
CREATE FUNCTION ledger.given_ids(ids regclass) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(last_value + increment_by - 1, 0) FROM pg_sequences
   WHERE format('%I.%I', schemaname, sequencename)::regclass = ids
$$;
