// Work on one key queues up; work on different keys does not.

export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/** Runs each piece of work after the earlier ones with its key, however those ended. */
export function oneAtATime (): InTurn {
  const queues = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = queues.get(key) ?? Promise.resolve()
    const mine = before.catch(() => {}).then(work)
    queues.set(key, mine)
    try {
      return await mine
    } finally {
      if (queues.get(key) === mine) queues.delete(key)
    }
  }
}
