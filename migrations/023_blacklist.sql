-- Up Migration

-- Ids of do-not-call entries: in blocks, as those of campaigns.
CREATE SEQUENCE ledger.blacklist_ids INCREMENT BY 20;

-- What the dispatcher knows of them: webhooks say that a lead is blacklisted.
CREATE TABLE ledger.dispatch_blacklist (
  user_id text NOT NULL,
  phone_number text NOT NULL,
  is_listed boolean NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY (user_id, phone_number)
);
