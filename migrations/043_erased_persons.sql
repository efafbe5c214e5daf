-- Up Migration

-- Whether a lead or contact is a person who was erased, so that calls which are reported later are not kept. Others stand
-- here without a number too: contacts that went with their lead, whose own persons are known still.
ALTER TABLE ledger.dispatch_leads ADD COLUMN is_erased boolean NOT NULL DEFAULT false;
