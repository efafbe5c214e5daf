-- Up Migration

-- Whose rows they are: no request names an upload whose body is still being read, or whose process died. Unknown (NULL)
-- where a former release keeps the part.
ALTER TABLE ledger.lead_import_parts ADD COLUMN user_id text;
