// Work that callers share: whatever is asked for while a batch is done is the next batch.

export interface Shared<Item, Answer> {
  /** Answers as many as it can at once. */
  together (items: Item[]): Promise<Map<Item, Answer>>
  /** Answers one that got no answer. Others do not wait for it. */
  alone (item: Item): Promise<Answer>
  /** Told why nobody got an answer from `together`. */
  onError (error: unknown): void
}

/**
 * Gives out `together` to callers that ask one by one. One batch runs at a time and is as large as what has gathered
 * since the one before began, so a caller that is alone never waits. When a batch fails each of its items is done
 * alone: an error of one is not one of the others.
 */
export function sharing<Item, Answer> ({ together, alone, onError }: Shared<Item, Answer>, mostAtOnce: number): (item: Item) => Promise<Answer> {
  const waiting: { item: Item, resolve (answer: Answer | Promise<Answer>): void }[] = []
  let isRunning = false

  return (item) => new Promise((resolve) => {
    waiting.push({ item, resolve })
    if (!isRunning) void run()
  })

  async function run (): Promise<void> {
    isRunning = true
    await Promise.resolve() // whatever else is asked for at this moment comes along
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostAtOnce)
      const answers = await together(batch.map(({ item }) => item)).catch((error: unknown) => {
        onError(error)
        return new Map<Item, Answer>()
      })
      for (const { item, resolve } of batch) {
        const answer = answers.get(item)
        resolve(answer === undefined ? alone(item) : answer)
      }
    }
    isRunning = false
  }
}
