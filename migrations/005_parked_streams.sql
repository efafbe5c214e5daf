-- Up Migration

-- Names of streams may be longer than an entry of an index: they are found by a digest.
CREATE FUNCTION ledger.digest_of(stream text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT sha256(convert_to(stream, 'UTF8')) $$;

ALTER TABLE ledger.parked_events
  ADD COLUMN stream_digest bytea NOT NULL GENERATED ALWAYS AS (ledger.digest_of(stream)) STORED,
  DROP CONSTRAINT parked_events_pkey,
  ADD PRIMARY KEY (consumer, stream_digest, revision);

ALTER TABLE ledger.skipped_events
  ADD COLUMN stream_digest bytea NOT NULL GENERATED ALWAYS AS (ledger.digest_of(stream)) STORED,
  DROP CONSTRAINT skipped_events_pkey,
  ADD PRIMARY KEY (projection, stream_digest, revision);
