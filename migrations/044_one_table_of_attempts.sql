-- Up Migration

-- Every attempt that has ended is in one table, written once and dropped by month, whatever started it. The table of those
-- on demand is their queue: what was asked for and has not ended.
ALTER TABLE ledger.webhook_attempts ADD COLUMN trigger text NOT NULL DEFAULT 'schedule';
-- safe: no release has this table yet, so none is large; an attempt on demand has numbers of its own
ALTER TABLE ledger.webhook_attempts
  DROP CONSTRAINT webhook_attempts_pkey, ADD PRIMARY KEY (delivery_id, trigger, n, started_at);

SELECT ledger.add_attempt_months((
  SELECT coalesce(min(started_at), now()) FROM ledger.webhook_attempts_on_demand WHERE outcome IS NOT NULL));
INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, endpoint_id, worker_token, started_at, finished_at, outcome,
    status_code, duration_ms, error, response_excerpt, response_truncated)
  SELECT delivery_id, trigger, n, endpoint_id, worker_token, started_at, finished_at, outcome,
    status_code, duration_ms, error, response_excerpt, response_truncated
  FROM ledger.webhook_attempts_on_demand WHERE outcome IS NOT NULL AND started_at IS NOT NULL;
DELETE FROM ledger.webhook_attempts_on_demand WHERE outcome IS NOT NULL;

-- As before, with those on demand that have ended. One of the former release leaves them where they were.
CREATE OR REPLACE VIEW ledger.all_webhook_attempts AS
  SELECT delivery_id, trigger, n, endpoint_id, worker_token, NULL::timestamptz AS due_at,
         NULL::integer AS job_number, NULL::timestamptz AS queued_at, started_at, finished_at, outcome,
         status_code, duration_ms, error, response_excerpt, response_truncated
  FROM ledger.webhook_attempts
  UNION ALL
  SELECT delivery_id, trigger, n, endpoint_id, worker_token, due_at,
         job_number, queued_at, started_at, finished_at, outcome,
         status_code, duration_ms, error, response_excerpt, response_truncated
  FROM ledger.webhook_attempts_on_demand
  UNION ALL
  SELECT id, 'schedule', attempt_count, endpoint_id, worker_token, NULL,
         job_number, queued_at, started_at, NULL, NULL,
         NULL, NULL, NULL, NULL, false
  FROM ledger.webhook_deliveries WHERE started_at IS NOT NULL AND queued_at IS NOT NULL;

-- When attempts of a kind were last asked for, newest first: what the limit for each minute looks at.
CREATE TABLE ledger.webhook_attempts_asked (
  assistant_id bigint NOT NULL,
  trigger      text NOT NULL,
  at           timestamptz[] NOT NULL,
  PRIMARY KEY (assistant_id, trigger)
);
