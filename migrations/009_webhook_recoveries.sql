-- Up Migration

-- What users asked to be sent again and is not scheduled yet: done in small batches, from the oldest delivery on.
CREATE TABLE ledger.webhook_recoveries (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id       text NOT NULL,
  assistant_id  bigint NOT NULL,
  statuses      text[] NOT NULL,
  after_created timestamptz NOT NULL,      -- all up to this delivery are done
  after_id      uuid NOT NULL,
  until         timestamptz NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_recoveries_of_assistant ON ledger.webhook_recoveries (assistant_id);
