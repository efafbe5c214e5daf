// Times that never go back, though clocks do.

/** The later one of two instants, as it was written. */
export const laterOf = (one: string, other: string) => Date.parse(other) > Date.parse(one) ? other : one
