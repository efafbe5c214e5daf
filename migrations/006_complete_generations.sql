-- Up Migration

-- Whether the generation has passed the end that the log had when its first fill began: readers see it from then on.
ALTER TABLE ledger.generations ADD COLUMN complete boolean NOT NULL DEFAULT false;
UPDATE ledger.generations SET complete = true WHERE state <> 'building';
