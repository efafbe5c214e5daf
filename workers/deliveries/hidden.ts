// Arrays whose length Postgres does not see when it plans: else it would plan anew each time, for so many elements, and
// to make a plan takes longer than the rest.

/** The parameter `$nth`, an array of `type`. */
export const hidden = (nth: number, type: string) => `(SELECT $${nth}::${type}[])`
