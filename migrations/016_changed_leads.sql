-- Up Migration

-- The lead that a secondary contact belongs to, and the event of its stream that changed it last.
ALTER TABLE ledger.dispatch_leads ADD COLUMN primary_id bigint, ADD COLUMN revision bigint NOT NULL DEFAULT 0;

-- Of contacts that are known already the read model says it, where there is one.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('read_model.leads') AND attname = 'primary_id') THEN
    UPDATE ledger.dispatch_leads kept SET primary_id = known.primary_id
    FROM read_model.leads known WHERE known.id = kept.contact_id AND known.primary_id IS NOT NULL;
  END IF;
END $$;
