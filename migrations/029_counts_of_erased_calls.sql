-- Up Migration

-- A call that was erased is one call, whether or not a scavenge has taken its report. The count knows it by where the
-- log ended when the count began: calls erased before that count at their erasure, later ones at their report.
ALTER TABLE ledger.identity_count
  ADD COLUMN began_at        bigint  NOT NULL DEFAULT 0,
  ADD COLUMN has_erased      boolean NOT NULL DEFAULT false, -- there are such earlier ones: streams are looked at
  ADD COLUMN met_erased      boolean NOT NULL DEFAULT false, -- and later ones, whose report may not have been seen
  ADD COLUMN is_counted_anew boolean NOT NULL DEFAULT false; -- for a difference that these may have made
