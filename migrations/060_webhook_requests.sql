-- Up Migration

-- An attempt that somebody asked for has its row from then on: the row is what is durable, and a wake-up points to it.
-- Those of the schedule have theirs from their start on, and leave the columns that are new here empty.
ALTER TABLE ledger.webhook_attempts
  ALTER COLUMN worker_token DROP NOT NULL,
  ALTER COLUMN started_at DROP NOT NULL,
  ADD COLUMN user_id text,
  ADD COLUMN assistant_id bigint,
  ADD COLUMN due_at timestamptz,
  ADD COLUMN wakeup integer NOT NULL DEFAULT 0,
  ADD COLUMN queued_at timestamptz,
  ADD CHECK ((started_at IS NULL) = (worker_token IS NULL)),
  ADD CHECK (CASE WHEN trigger = 'schedule' THEN started_at IS NOT NULL ELSE user_id IS NOT NULL AND assistant_id IS NOT NULL AND due_at IS NOT NULL END);
CREATE INDEX webhook_attempts_asked ON ledger.webhook_attempts (user_id, endpoint_id)
  WHERE trigger <> 'schedule' AND outcome IS NULL;
CREATE INDEX webhook_attempts_asked_lately ON ledger.webhook_attempts (assistant_id, trigger, due_at) WHERE trigger <> 'schedule';

-- A test delivery has no place in the log.
ALTER TABLE ledger.webhook_deliveries
  ALTER COLUMN position DROP NOT NULL,
  ALTER COLUMN last_position DROP NOT NULL,
  ALTER COLUMN created_at SET DEFAULT clock_timestamp(), -- newest first, also within one batch
  ADD COLUMN held_at timestamptz;
UPDATE ledger.webhook_deliveries SET held_at = now() WHERE status = 'held';
ALTER TABLE ledger.webhook_deliveries ADD CHECK ((held_at IS NULL) = (status <> 'held'));

CREATE INDEX webhook_deliveries_held_since ON ledger.webhook_deliveries (held_at) WHERE status = 'held';
CREATE INDEX webhook_deliveries_kept ON ledger.webhook_deliveries (created_at)
  WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held');
DROP INDEX ledger.webhook_deliveries_of_user;
CREATE INDEX webhook_deliveries_of_user ON ledger.webhook_deliveries (user_id, created_at DESC, id DESC) INCLUDE (assistant_id, call_id, status);
