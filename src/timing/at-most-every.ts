// Work that is done once for all who ask for it at about the same time.

/** Begins the work at most once in `everyMs`, and never beside itself; others get the result of the last run. */
export function atMostEvery<Result> (everyMs: number, work: () => Promise<Result>): () => Promise<Result> {
  const alone = joinRunning(work)
  let notBefore = -Infinity
  let last: Promise<Result> | undefined
  return () => {
    const now = performance.now()
    if (last && now < notBefore) return last
    notBefore = now + everyMs
    last = alone()
    return last
  }
}

/** Does not begin the work again while it runs: who asks then gets the result of that run. */
export function joinRunning<Result> (work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => running ??= work().finally(() => { running = undefined })
}
