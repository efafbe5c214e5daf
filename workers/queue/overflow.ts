// Moves long work out of the queue's concurrency, so that receivers that hang do not delay others.

export interface OverflowOptions {
  /** Work that takes longer moves into the overflow, in milliseconds. */
  afterMs: number
  /** Work that may run in the overflow at a time; other long work stays in the concurrency. */
  limit: number
}

export interface Overflow {
  /**
   * Does `work`. Resolves at its end, or when it moves into the overflow: from then on `onError` gets its error.
   * @throws the error of work that did not move
   */
  run (work: () => Promise<void>, onError: (error: unknown) => void): Promise<void>
  /** Resolves when no work runs, here or in the concurrency. */
  settled (): Promise<void>
}

export function openOverflow ({ afterMs, limit }: OverflowOptions): Overflow {
  const running = new Set<Promise<void>>()
  const all = new Set<Promise<void>>()

  return {
    async run (work, onError) {
      const done = work()
      const over = done.catch(() => {}).finally(() => all.delete(over))
      all.add(over)
      let timer: NodeJS.Timeout | undefined
      const moved = new Promise<void>((resolve) => {
        // A full overflow may have space at the next try.
        timer = setInterval(() => {
          if (running.size >= limit) return
          const ended = done.catch(onError).finally(() => running.delete(ended))
          running.add(ended)
          resolve()
        }, afterMs)
      })
      await Promise.race([done, moved]).finally(() => clearInterval(timer))
    },
    async settled () {
      while (all.size > 0) await Promise.all(all)
    }
  }
}
