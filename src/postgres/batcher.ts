// Batches single calls: what callers want while one batch runs is the next batch.

export interface BatcherOptions<Item, Answer> {
  /** Answers as many of the items as it can at once. */
  runBatch (items: Item[]): Promise<Map<Item, Answer>>
  /** Answers an item that got no answer from its batch. Other items do not wait for it. */
  runOne (item: Item): Promise<Answer>
  /** Gets the error of a batch that failed as a whole. */
  onError (error: unknown): void
  /** Items of a batch. */
  limit: number
}

/**
 * Runs one batch at a time. A batch takes everything that arrived while the one before it ran, so a single caller
 * never waits. When a batch fails, each of its items runs alone: an error of one item does not fail the others.
 */
export function batcher<Item, Answer> (options: BatcherOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  const { runBatch, runOne, onError, limit } = options
  const waiting: { item: Item, resolve (answer: Answer | Promise<Answer>): void }[] = []
  let isRunning = false

  return (item) => new Promise((resolve) => {
    waiting.push({ item, resolve })
    if (!isRunning) void run()
  })

  async function run (): Promise<void> {
    isRunning = true
    await Promise.resolve() // items of the same tick come along
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limit)
      const answers = await runBatch(batch.map(({ item }) => item)).catch(noAnswers)
      for (const { item, resolve } of batch) resolve(answers.get(item) ?? runOne(item))
    }
    isRunning = false
  }

  function noAnswers (error: unknown): Map<Item, Answer> {
    onError(error)
    return new Map()
  }
}
