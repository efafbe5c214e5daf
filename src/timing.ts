// Waits that end: between tries, for work that may take too long, for the next run. A timer that is cleared costs a
// fraction of one that a signal aborts, and some of these waits are made for every event.

/** Waits, or returns early when `signal` is aborted. */
export async function pause (ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

/** Runs `work` in a loop; `work` itself waits between its runs. @returns stops the loop, and waits for its end */
export function repeat (work: (signal: AbortSignal) => Promise<unknown>): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const repeating = (async () => { while (!signal.aborted) await work(signal) })()
  return async () => {
    stopping.abort()
    await repeating
  }
}

/** The result of `work`. @throws what `work` does, or `late()` when it takes longer than `ms` */
export async function withTimeout<Result> (ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => { timer = setTimeout(() => reject(late()), ms) })
  return await Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}

/** Whether `work` ended in time, with or without an error. */
export async function endsWithin (ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const late = new Error('late')
  return await withTimeout(ms, Promise.resolve(work), () => late).then(() => true, (error) => error !== late)
}

/** Starts the work at most once in `everyMs`, and never twice at once; other callers get the last result. */
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

/** Callers that come while the work runs get the result of that run. */
export function joinRunning<Result> (work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => running ??= work().finally(() => { running = undefined })
}
