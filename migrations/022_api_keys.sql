-- Up Migration

-- Ids of API keys: in blocks, as those of assistants and leads.
CREATE SEQUENCE ledger.api_key_ids INCREMENT BY 20;

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
