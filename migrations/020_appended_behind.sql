-- Up Migration

-- Proof that the log had gone back, though it has grown since: an event that was appended behind what had been read.
-- `ringledger events adopt` removes it.
CREATE TABLE ledger.appended_behind (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  stream     text NOT NULL,
  revision   bigint NOT NULL,
  position   bigint NOT NULL,
  command_id uuid NOT NULL,
  read_up_to bigint NOT NULL,     -- how far the log had been read before the event was appended
  noticed_at timestamptz NOT NULL DEFAULT now()
);
