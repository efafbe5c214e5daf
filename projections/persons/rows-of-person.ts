// The keys of the rows that a generation has of a person, in SQL: of a user ($1), by the number ($2), or by ids of
// leads and contacts ($3).

/**
 * Whether a call that is not erased names the number on either end. It searches the text, since Postgres's JSON
 * operators fail where any string holds a NUL or half an emoji, which an engine may append.
 */
export const namesNumber = (number: string) =>
  `summary::text ~ ('"(from|to)":"[+]' || substr(${number}::text, 2) || '"')`

export const callKeys = (schema: string) => `
  SELECT id FROM ${schema}.calls WHERE user_id = $1 AND report IS NOT NULL
    AND (${namesNumber('$2')} OR lead_id = ANY($3::bigint[]))`

export const leadKeys = (schema: string) => `
  SELECT id::text FROM ${schema}.leads
  WHERE user_id = $1 AND phone_number <> '' AND (phone_number = $2 OR id = ANY($3::bigint[]))
  UNION SELECT key FROM ${schema}.blacklist WHERE user_id = $1 AND phone_number = $2`
