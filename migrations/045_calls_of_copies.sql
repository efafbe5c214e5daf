-- Up Migration

-- Calls that a part of a copy tells of: whoever answered them may be erased while it is kept. Unknown (NULL) where a
-- former release made the copy.
ALTER TABLE ledger.person_exports ADD COLUMN call_ids text[];
