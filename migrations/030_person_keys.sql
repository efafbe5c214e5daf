-- Up Migration

-- Keys that the data of persons is sealed under: a cache of the streams `person-…` of the log, which can be emptied at any
-- time. No write-ahead log, no standby and no copy of the data directory has it, so an erased key is not in a backup.
-- A row without `wrapped` says that the key was erased.
CREATE UNLOGGED TABLE ledger.person_keys (
  key_id     uuid PRIMARY KEY,
  person     text NOT NULL COLLATE "C",    -- digests of user and number
  wrapped_by text,                         -- which SECRET_KEY encrypted it
  wrapped    bytea                         -- AES-256-GCM: nonce, tag, cipher text
);
CREATE INDEX person_keys_of ON ledger.person_keys (person);
