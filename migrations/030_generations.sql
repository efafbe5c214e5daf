-- Up Migration

-- Each generation of a projection: its tables in a schema of its own, folded by one version of its code.
-- Readers see the active one. Of those that are fed, `ready` ones wait to be swapped in, `retained` ones to be
-- swapped back in; whoever swaps only changes states here and the views in read_model.
CREATE TABLE ledger.generations (
  projection   text NOT NULL,
  generation   integer NOT NULL,
  state        text NOT NULL CHECK (state IN ('building', 'ready', 'active', 'retained', 'dropping')),
  code_version integer NOT NULL,
  verified     text,                                -- against what, in words
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),  -- when it came into its state
  PRIMARY KEY (projection, generation)
);
CREATE UNIQUE INDEX generations_active ON ledger.generations (projection) WHERE state = 'active';
CREATE UNIQUE INDEX generations_next ON ledger.generations (projection) WHERE state IN ('building', 'ready');

-- Until now the code version stood in the comment on the schema.
INSERT INTO ledger.generations (projection, generation, state, code_version)
SELECT name, active_generation, 'active',
       coalesce(substring(obj_description(to_regnamespace(format('read_%s_g%s', name, active_generation))::oid, 'pg_namespace')
                          FROM 'code version (\d+)')::integer, 0)
  FROM ledger.projections;

-- Each generation is owned by itself from now on. The epochs stay, so that they go on rising.
UPDATE ledger.leases AS lease SET name = format('projection %s g%s', known.name, known.active_generation)
  FROM ledger.projections AS known WHERE lease.name = 'projection ' || known.name;
DROP TABLE ledger.projections;

-- A command feeds what nobody else feeds, and gives way to a projector that comes.
ALTER TABLE ledger.leases ADD COLUMN yields boolean NOT NULL DEFAULT false;
