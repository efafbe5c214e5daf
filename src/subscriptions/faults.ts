// The seam at which tests stop, freeze or kill a process between two steps; otherwise nothing is set, and nothing happens.

/** `at` is awaited wherever a process may die between two steps, with the name of the place. */
export const faults: { at?: ((point: string) => void | Promise<void>) | undefined } = {}
