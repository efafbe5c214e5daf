-- Up Migration

-- A secret without an assistant is that of the user, who has it for all assistants without one of their own.
ALTER TABLE ledger.webhook_secrets
  ADD COLUMN assistant_id bigint,
  ADD COLUMN beside_user_until timestamptz; -- of an assistant's secret: until then the user's sign as well
DROP INDEX ledger.webhook_secrets_current;
CREATE UNIQUE INDEX webhook_secrets_current ON ledger.webhook_secrets (user_id, coalesce(assistant_id, 0))
  WHERE expires_at IS NULL;

-- Of a command that writes only here its answer is kept, sealed, as it may hold a secret.
ALTER TABLE ledger.idempotency_keys
  ADD COLUMN answer_status smallint,
  ADD COLUMN answer_key_id text,
  ADD COLUMN answer        bytea;
