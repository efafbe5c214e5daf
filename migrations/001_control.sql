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

-- One block of ids. The shared lock keeps raise_ids from setting the sequence back under our feet.
CREATE FUNCTION ledger.take_ids(ids regclass) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(ids::oid::bigint);
  RETURN nextval(ids);
END $$;

-- Puts the sequence past an id that the log has seen: after a replay into a fresh database none is given out twice.
CREATE FUNCTION ledger.raise_ids(ids regclass, seen bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given bigint;
BEGIN
  SELECT coalesce(last_value + increment_by - 1, 0) INTO given FROM pg_sequences
   WHERE format('%I.%I', schemaname, sequencename)::regclass = ids;
  IF given >= seen THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(ids::oid::bigint);
  SELECT coalesce(last_value + increment_by - 1, 0) INTO given FROM pg_sequences
   WHERE format('%I.%I', schemaname, sequencename)::regclass = ids;
  IF given < seen THEN PERFORM setval(ids, seen, true); END IF;
END $$;
