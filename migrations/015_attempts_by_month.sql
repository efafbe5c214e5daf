-- Up Migration

-- Attempts on demand, redeliveries, tests and probes, have their row before they are due. They are few, and stay here.
DROP INDEX ledger.webhook_attempts_on_demand;
ALTER TABLE ledger.webhook_attempts RENAME TO webhook_attempts_on_demand;
ALTER INDEX ledger.webhook_attempts_pkey RENAME TO webhook_attempts_on_demand_pkey;
DROP INDEX ledger.webhook_attempts_recent;

-- Attempts of the schedule that have ended: each is written once, with its outcome. One that runs stands in the row of its
-- delivery. Each month is a table of its own, which is dropped whole when nothing in it is kept any more.
CREATE TABLE ledger.webhook_attempts (
  delivery_id        uuid NOT NULL,
  n                  integer NOT NULL,
  endpoint_id        bigint NOT NULL,
  worker_token       uuid NOT NULL,         -- a late success of this worker still counts
  started_at         timestamptz NOT NULL,
  finished_at        timestamptz NOT NULL,
  outcome            text NOT NULL CHECK (outcome IN
    ('delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown')),
  status_code        integer,
  duration_ms        integer,
  error              text,
  response_excerpt   text,
  response_truncated boolean NOT NULL DEFAULT false,
  PRIMARY KEY (delivery_id, n, started_at)
) PARTITION BY RANGE (started_at);
-- For the metric of the last minutes: rows are in about the order of their start, so that this costs writers next to
-- nothing.
CREATE INDEX webhook_attempts_recent ON ledger.webhook_attempts USING brin (started_at)
  WITH (pages_per_range = 16, autosummarize = on);

-- A table for each month, in UTC, from the one of `since` to the third one from now; those that are there stay.
CREATE FUNCTION ledger.add_attempt_months(since timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first timestamp := date_trunc('month', since AT TIME ZONE 'UTC');
  last timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '3 months';
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock('ledger.webhook_attempts'::regclass::oid::bigint);
  WHILE first <= last LOOP
    name := 'webhook_attempts_' || to_char(first, 'YYYY_MM');
    IF to_regclass('ledger.' || name) IS NULL THEN
      EXECUTE format('CREATE TABLE ledger.%I PARTITION OF ledger.webhook_attempts FOR VALUES FROM (%L) TO (%L)',
        name, first::text || '+00', (first + interval '1 month')::text || '+00');
    END IF;
    first := first + interval '1 month';
  END LOOP;
END $$;

SELECT ledger.add_attempt_months((
  SELECT coalesce(min(started_at), now()) FROM ledger.webhook_attempts_on_demand WHERE trigger = 'schedule'));
INSERT INTO ledger.webhook_attempts
  SELECT delivery_id, n, endpoint_id, worker_token, started_at, finished_at, outcome, status_code, duration_ms, error,
         response_excerpt, response_truncated
  FROM ledger.webhook_attempts_on_demand WHERE trigger = 'schedule' AND outcome IS NOT NULL;
DELETE FROM ledger.webhook_attempts_on_demand WHERE trigger = 'schedule';

CREATE INDEX webhook_attempts_on_demand_open ON ledger.webhook_attempts_on_demand (user_id, endpoint_id)
  WHERE outcome IS NULL;
DROP INDEX ledger.webhook_attempts_on_demand_recent;
CREATE INDEX webhook_attempts_on_demand_recent ON ledger.webhook_attempts_on_demand (assistant_id, trigger, due_at);
ALTER TABLE ledger.webhook_attempts_on_demand
  DROP CONSTRAINT webhook_attempts_trigger_check,
  ADD CONSTRAINT webhook_attempts_on_demand_trigger_check CHECK (trigger IN ('manual', 'test', 'probe')),
  ALTER COLUMN user_id SET NOT NULL,
  ALTER COLUMN assistant_id SET NOT NULL,
  ALTER COLUMN due_at SET NOT NULL;

-- Every attempt as it is shown: those that have ended, those on demand, and those of the schedule that run.
CREATE VIEW ledger.all_webhook_attempts AS
  SELECT delivery_id, 'schedule' AS trigger, n, endpoint_id, worker_token, NULL::timestamptz AS due_at,
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
