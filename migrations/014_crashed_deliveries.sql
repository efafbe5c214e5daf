-- Up Migration

-- Attempts in a row whose worker did not tell the outcome: a delivery that ends its workers is held in the end.
ALTER TABLE ledger.webhook_deliveries ADD COLUMN crash_count smallint NOT NULL DEFAULT 0;

-- Those that are attempted one at a time: the next crash shows which delivery it was.
CREATE INDEX webhook_deliveries_suspect ON ledger.webhook_deliveries (id) WHERE crash_count >= 2 AND queued_at IS NOT NULL;
