-- Up Migration

-- Each delivery leaves dead rows, and their entries at the front of the indexes that are read most. By default a vacuum
-- waits until a fifth of the table is dead, and sleeps while deliveries go on.
ALTER TABLE ledger.webhook_deliveries SET (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);
ALTER TABLE ledger.webhook_attempts SET (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02
);
