-- The dispatcher's own fold of the log: what is sent follows from the place of the call in the log and from nothing else.
-- json, not jsonb: order and every escape stay as they were written.

CREATE TABLE ledger.dispatcher_checkpoint (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  position   bigint NOT NULL DEFAULT 0,
  epoch      bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now(),
  event_id       uuid,   -- of the last event that was taken, and its place: another log has another one there
  event_position bigint
);
INSERT INTO ledger.dispatcher_checkpoint DEFAULT VALUES;

CREATE TABLE ledger.dispatch_assistants (
  assistant_id bigint PRIMARY KEY,
  user_id      text NOT NULL,
  revision     bigint NOT NULL,
  settings     json NOT NULL
);

CREATE TABLE ledger.dispatch_leads (
  id               bigint PRIMARY KEY,         -- a lead or a secondary contact: one sequence of ids
  primary_id       bigint,                     -- the lead that a secondary contact belongs to
  user_id          text NOT NULL,
  campaign_id      bigint NOT NULL,
  phone_number     text NOT NULL,
  variables        json NOT NULL,
  status           text NOT NULL,
  newest_report_at timestamptz,                -- end of its latest reported call: an older report does not move it
  revision         bigint NOT NULL DEFAULT 0,  -- the event of its stream that changed it last
  is_erased        boolean NOT NULL DEFAULT false -- a person who was erased: calls that are reported later are not kept.
                                               -- A contact that went with its lead has no number either, but is none
);

CREATE TABLE ledger.dispatch_campaigns (
  campaign_id bigint PRIMARY KEY,
  revision    bigint NOT NULL,
  name        json NOT NULL
);

-- Do-not-call entries: webhooks say that a lead is blacklisted.
CREATE TABLE ledger.dispatch_blacklist (
  key          text PRIMARY KEY,               -- the number, a space, and the user
  is_listed    boolean NOT NULL,
  revision     bigint NOT NULL
);
-- An erasure may empty the table, and ANALYZE keeps the samples of a table without rows.
ALTER TABLE ledger.dispatch_blacklist ALTER key SET STATISTICS 0;

-- How far the calls of the log were counted, to compare them with their rows in the delivery log. A call that was erased
-- is one call, whether or not a scavenge has taken its report. The count knows it by where the log ended when the count
-- began: it counts calls erased before that at their erasure, later ones at their report.
CREATE TABLE ledger.identity_count (
  only_row        boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  position        bigint  NOT NULL DEFAULT 0,     -- of the log: all calls up to it are in `calls`
  calls           bigint  NOT NULL DEFAULT 0,
  unaccounted     bigint,                         -- as of the last time that both were counted at one place; none before
  counted_at      timestamptz,
  began_at        bigint  NOT NULL DEFAULT 0,
  has_erased      boolean NOT NULL DEFAULT false, -- there are such earlier ones: the count looks at streams
  met_erased      boolean NOT NULL DEFAULT false, -- and later ones, whose report may not have been seen
  is_counted_anew boolean NOT NULL DEFAULT false  -- for a difference that these may have made
);
INSERT INTO ledger.identity_count DEFAULT VALUES;
