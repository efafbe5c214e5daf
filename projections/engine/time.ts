// Times as they come out of a row.

/** Postgres writes `…+00:00` and leaves out zero fractions; ours always end in milliseconds and Z. */
export const iso = (time: string) => new Date(time).toISOString()
