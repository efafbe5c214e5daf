-- Up Migration

-- One plan for any number of users: to make one takes Postgres longer than to give slots, and it would make one at each
-- call, as it takes the number of users for a reason to. The plan may be from when the tables were empty, and is kept
-- until they are analyzed: so it must not read them whole.
ALTER FUNCTION ledger.acquire_slots (text[], integer, integer, integer, integer)
  SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION ledger.acquire_slots (text[], integer, integer, integer, integer) SET enable_seqscan = off;

-- Of whom of these users something is due that has no slot yet. As slots are given, it begins where the last pass found
-- nothing older.
CREATE FUNCTION ledger.due_users (user_ids text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY
    SELECT w.user_id FROM ledger.waiting(user_ids) w WHERE w.first_due <= clock_timestamp()
    UNION
    SELECT a.user_id FROM ledger.webhook_attempts_on_demand a
    WHERE a.user_id = ANY(user_ids) AND a.outcome IS NULL AND a.queued_at IS NULL AND a.due_at <= clock_timestamp();
END $$;
