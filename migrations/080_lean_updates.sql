-- Up Migration

-- A delivery changes three times until it is delivered, and each change writes its row anew: without the body, which
-- stays where it is, and without new entries in the indexes where an attempt starts (a heap-only update), for which
-- pages keep some room.
ALTER TABLE ledger.webhook_deliveries SET (toast_tuple_target = 256, fillfactor = 70);

-- An attempt that runs has its place, so those are looked for among the places that are taken.
UPDATE ledger.webhook_deliveries SET queued_at = started_at WHERE started_at IS NOT NULL AND queued_at IS NULL;
ALTER TABLE ledger.webhook_deliveries ADD CHECK (started_at IS NULL OR queued_at IS NOT NULL);
DROP INDEX ledger.webhook_deliveries_started;
