-- Up Migration

-- What a former release noted of rows that differ has their values, which may be of persons.
UPDATE ledger.projection_actions SET message = 'Rows differed. Ask for it again to see which.'
WHERE message LIKE '% differ, at least in these rows%' OR message LIKE '%(accepted)%';
