// Lets work that takes long go on beside the queue's count, so that receivers that hang keep nobody else waiting.

export interface RoomOptions {
  /** Work that takes longer makes room, in milliseconds. */
  afterMs: number
  /** How many may go on so at a time; more keep their slot in the count. */
  most: number
}

export interface Room {
  /**
   * Does `work`; resolves at its end, or as soon as it has made room: then `onError` is told what it fails with.
   * @throws what `work` fails with before
   */
  run (work: () => Promise<void>, onError: (error: unknown) => void): Promise<void>
  /** Resolves when nothing runs that has made room. */
  settled (): Promise<void>
}

export function makingRoom ({ afterMs, most }: RoomOptions): Room {
  const long = new Set<Promise<void>>()

  return {
    async run (work, onError) {
      const done = work()
      let timer: NodeJS.Timeout | undefined
      const madeRoom = new Promise<void>((resolve) => {
        // Looks again as long as there is no room: some other work may have ended.
        timer = setInterval(() => {
          if (long.size >= most) return
          const ended = done.catch(onError).finally(() => long.delete(ended))
          long.add(ended)
          resolve()
        }, afterMs)
      })
      await Promise.race([done, madeRoom]).finally(() => clearInterval(timer))
    },
    async settled () {
      while (long.size > 0) await Promise.all(long)
    }
  }
}
