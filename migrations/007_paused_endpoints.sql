-- Up Migration

-- An endpoint that asked for fewer requests gets none until then.
ALTER TABLE ledger.webhook_endpoints
  ADD COLUMN paused_until timestamptz,
  ADD COLUMN pause_reason text CHECK (pause_reason IN ('too_many_requests', 'unavailable'));
