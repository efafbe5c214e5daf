-- Up Migration

-- For the metric of the last minutes: rows are in about the order of their start, so that this costs writers next to nothing.
CREATE INDEX webhook_attempts_recent ON ledger.webhook_attempts USING brin (started_at) WITH (pages_per_range = 16, autosummarize = on);
