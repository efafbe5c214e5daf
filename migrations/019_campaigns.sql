-- Up Migration

-- Ids of campaigns and phone numbers that users make: in blocks, as those of assistants and leads.
CREATE SEQUENCE ledger.campaign_ids INCREMENT BY 20;
CREATE SEQUENCE ledger.phone_number_ids INCREMENT BY 20;

-- Those that catalogues brought: the read model knows them, where there is one. What is too high to be believed, next to
-- where numbers stop being exact, raises nothing.
DO $$
BEGIN
  IF to_regclass('read_model.campaigns') IS NOT NULL THEN
    PERFORM ledger.raise_ids('ledger.campaign_ids', coalesce(max(id), 0))
    FROM read_model.campaigns WHERE id <= 9007199253740992;
  END IF;
  IF to_regclass('read_model.phone_numbers') IS NOT NULL THEN
    PERFORM ledger.raise_ids('ledger.phone_number_ids', coalesce(max(id), 0))
    FROM read_model.phone_numbers WHERE id <= 9007199253740992;
  END IF;
END $$;
