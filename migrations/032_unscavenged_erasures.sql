-- Up Migration

-- Erasures of persons on a real event store, which removes what was erased when its operator scavenges. A row goes when
-- a scavenge of every member is known that began later.
CREATE TABLE ledger.unscavenged_erasures (
  request_id uuid PRIMARY KEY,
  erased_at  timestamptz NOT NULL DEFAULT now()
);
