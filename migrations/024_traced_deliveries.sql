-- Up Migration

-- The trace of the call, as its event names it in W3C Trace Context: attempts belong to it. Absent where none is.
ALTER TABLE ledger.webhook_deliveries ADD COLUMN traceparent text;
