-- Up Migration

-- What users are told of their webhooks, and operators, where they have a hook for it: one row each.
CREATE TABLE ledger.webhook_notices (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id        text NOT NULL,
  type           text NOT NULL CHECK (type IN ('endpoint_failing', 'endpoint_suspended', 'delivery_exhausted')),
  assistant_id   bigint,
  delivery_id    uuid,
  reason         text,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),
  alert_due_at   timestamptz DEFAULT clock_timestamp(), -- null once the operator's hook has it, or never will
  alert_attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX webhook_notices_of_user ON ledger.webhook_notices (user_id, id DESC);
CREATE INDEX webhook_notices_due ON ledger.webhook_notices (alert_due_at) WHERE alert_due_at IS NOT NULL;
CREATE INDEX webhook_notices_age ON ledger.webhook_notices USING brin (at);

-- An endpoint is told to fail at its third failed attempt in a row, and again only after a success.
ALTER TABLE ledger.webhook_endpoints
  ADD COLUMN failures_in_row smallint NOT NULL DEFAULT 0,
  ADD COLUMN probed_at timestamptz;

-- A probe finds out whether an endpoint that was suspended for failing works again.
ALTER TABLE ledger.webhook_attempts DROP CONSTRAINT webhook_attempts_trigger_check;
ALTER TABLE ledger.webhook_attempts
  ADD CONSTRAINT webhook_attempts_trigger_check CHECK (trigger IN ('schedule', 'manual', 'test', 'probe'));
