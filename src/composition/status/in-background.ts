// Answers at once what was read last, and reads again in the background.

/**
 * For a read that takes longer than a scrape may, or costs too much for each scrape: at most one begins every
 * `everyMs`. Throws the error of the last read, if it failed.
 */
export function inBackground<Found> (first: Found, read: () => Promise<Found>, everyMs = 60_000): () => Found {
  let found = first
  let failure: Error | undefined
  let startedAt = -Infinity
  let isReading = false
  return () => {
    if (!isReading && performance.now() - startedAt >= everyMs) void refresh()
    if (failure) throw failure
    return found
  }

  async function refresh (): Promise<void> {
    isReading = true
    startedAt = performance.now()
    try {
      found = await read()
      failure = undefined
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    } finally {
      isReading = false
    }
  }
}
