-- Up Migration

-- Pending deliveries of an assistant whose webhook was switched or has another URL: they are moved in batches. Until a
-- delivery is moved, no attempt of it starts.
CREATE TABLE ledger.moving_assistants (
  assistant_id bigint PRIMARY KEY,
  endpoint_id  bigint REFERENCES ledger.webhook_endpoints, -- where they go; null: they are held, the webhook is off
  after_id     uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000' -- all up to this delivery are moved
);

-- Pending deliveries of an endpoint that was suspended or resumed: they follow what its row says.
CREATE TABLE ledger.moving_endpoints (
  endpoint_id bigint PRIMARY KEY REFERENCES ledger.webhook_endpoints,
  after_id    uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);

-- Both in the order in which they are moved: a batch begins where the one before it ended.
DROP INDEX ledger.webhook_deliveries_pending;
DROP INDEX ledger.webhook_deliveries_held;
CREATE INDEX webhook_deliveries_pending ON ledger.webhook_deliveries (assistant_id, id)
  WHERE status IN ('scheduled', 'held');
CREATE INDEX webhook_deliveries_pending_to ON ledger.webhook_deliveries (endpoint_id, id)
  WHERE status IN ('scheduled', 'held');
