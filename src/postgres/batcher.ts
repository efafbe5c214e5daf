// Batches single calls: what callers want while one batch runs is the next batch.

import { setImmediate as arrived } from 'node:timers/promises'

export interface BatcherOptions<Item, Answer> {
  /** Answers as many of the items as it can at once. */
  runBatch (items: Item[]): Promise<Map<Item, Answer>>
  /** Answers an item that got no answer from its batch. Other items do not wait for it. */
  runOne (item: Item): Promise<Answer>
  /** Gets the error of a batch that failed as a whole. */
  onError? (error: unknown): void
  /** Whether one of the items may be at fault: then each runs alone. Otherwise all fail so. Always when absent. */
  isOfOne? (error: unknown): boolean
  /** Items of a batch. */
  limit: number
  /** Batches at once. One when absent. */
  lanes?: number
}

/**
 * Runs a few batches at a time. A batch takes everything that arrived while the ones before it ran, so a single caller
 * never waits. When a batch fails, each of its items runs alone: an error of one item does not fail the others.
 */
export function batcher<Item, Answer> (options: BatcherOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  const { runBatch, runOne, onError, isOfOne = () => true, limit, lanes = 1 } = options
  const waiting: { item: Item, resolve (answer: Answer | Promise<Answer>): void }[] = []
  let running = 0
  type AnswerOf = (item: Item) => Answer | Promise<Answer>

  return (item) => new Promise((resolve) => {
    waiting.push({ item, resolve })
    if (running < lanes) void run()
  })

  async function run (): Promise<void> {
    running++
    await arrived() // what came with it comes along: requests of one packet, loops of one beat
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limit)
      const answerOf = await runBatch(batch.map(({ item }) => item)).then(answered, failed)
      for (const { item, resolve } of batch) resolve(answerOf(item))
    }
    running--
  }

  function answered (answers: Map<Item, Answer>): AnswerOf {
    return (item) => answers.get(item) ?? runOne(item)
  }

  function failed (error: unknown): AnswerOf {
    onError?.(error)
    return isOfOne(error) ? runOne : async () => { throw error }
  }
}
