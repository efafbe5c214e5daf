-- Up Migration

-- When the latest reported call of the lead ended: an older report does not move it.
ALTER TABLE ledger.dispatch_leads ADD COLUMN newest_report_at timestamptz;
