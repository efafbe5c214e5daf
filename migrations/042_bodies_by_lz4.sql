-- Up Migration

-- LZ4 compresses a body in a fraction of the time of pglz, on servers that are built with it. What is written stays as it
-- is, and both can be read beside each other.
DO $$
BEGIN
  IF 'lz4' = ANY((SELECT enumvals FROM pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
    ALTER TABLE ledger.webhook_deliveries ALTER COLUMN body SET COMPRESSION lz4;
  END IF;
END $$;
