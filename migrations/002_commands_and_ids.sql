-- What commands need beside the log: answers under idempotency keys, ids, and who may call.

-- One row per user, method, route and key. Only committed commands keep theirs, for 24 hours; a row without
-- `committed_at` whose lease is over belongs to a request that crashed, and the next one with the key takes it over.
-- An erasure empties `request_hash` and `answer` of what tells of the person.
CREATE TABLE ledger.idempotency_keys (
  user_id       text NOT NULL,
  method        text NOT NULL,
  route         text NOT NULL,
  key           text NOT NULL,
  request_hash  bytea NOT NULL,
  command_id    uuid NOT NULL,
  ids           bigint[] NOT NULL,
  leased_until  timestamptz NOT NULL,
  about         text[],            -- streams, and those that stand for persons whom the answer shows
  answer_key_id text,
  answer        bytea,             -- sealed: before the commit, the secret that the command reserved, if any
  created_at    timestamptz NOT NULL DEFAULT now(),
  committed_at  timestamptz,
  PRIMARY KEY (user_id, method, route, key)
);
CREATE INDEX idempotency_keys_age ON ledger.idempotency_keys (created_at);
-- ANALYZE keeps the samples of a table that has become empty.
ALTER TABLE ledger.idempotency_keys ALTER request_hash SET STATISTICS 0, ALTER answer SET STATISTICS 0;

-- A process takes ids in blocks of the increment; gaps are fine, reuse is not.
CREATE SEQUENCE ledger.assistant_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.lead_ids INCREMENT BY 200;
CREATE SEQUENCE ledger.campaign_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.phone_number_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.api_key_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.blacklist_ids INCREMENT BY 20;

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

-- No higher id was given out by this sequence.
CREATE FUNCTION ledger.given_ids(ids regclass) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(last_value + increment_by - 1, 0) FROM pg_sequences
   WHERE format('%I.%I', schemaname, sequencename)::regclass = ids
$$;

-- Keys and tokens that were revoked within the last day: `key <id>` or `token <digest>`. The events say it for good; this
-- says it to processes that look before the read model has it.
CREATE TABLE ledger.revocations (
  what       text PRIMARY KEY,
  revoked_at timestamptz NOT NULL DEFAULT now()
);

-- The minute in which each key was last used. Known to this database alone.
CREATE TABLE ledger.api_key_uses (
  api_key_id   bigint PRIMARY KEY,
  last_used_at timestamptz NOT NULL
);

-- Streams of do-not-call entries, noted before their first event is appended: a number whose stream is neither here nor
-- in the read model has no entry, and commands need not ask the log for it. A digest of user and number names a stream.
CREATE TABLE ledger.noted_entries (stream text PRIMARY KEY COLLATE "C");
