-- Up Migration

-- Calls whose person was erased: nothing is kept of what was sent, nor of what receivers answer from then on.
ALTER TABLE ledger.webhook_deliveries ADD COLUMN erased_at timestamptz;
