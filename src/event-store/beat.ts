// Lets those who look again and again look at one time, so that one question serves them all.

/** How long to wait for the next multiple of `everyMs` that is not too near: a half of it to one and a half. */
export function untilBeat (everyMs: number): number {
  const rest = everyMs - performance.now() % everyMs
  return rest < everyMs / 2 ? rest + everyMs : rest
}
