// One statement for all who ask the same at one moment, as those do who wake at one beat.
import type { Pool } from 'pg'
import { batcher } from './batcher.js'

type Ask<Item, Answer> = (item: Item) => Promise<Answer>

const mostTogether = 100

/**
 * @param look answers every item, in one statement; what fails there fails for all of them
 * @returns what asks on a pool, with all others who do so by then
 */
export function askedTogether<Item, Answer> (
  look: (pool: Pool, items: Item[]) => Promise<Map<Item, Answer>>
): (pool: Pool, item: Item) => Promise<Answer> {
  const asks = new WeakMap<Pool, Ask<Item, Answer>>()
  return async (pool, item) => {
    const ask = asks.get(pool) ?? batcher({
      runBatch: (items: Item[]) => look(pool, items),
      runOne: async () => { throw new Error('a look answers every item') },
      isOfOne: () => false,
      limit: mostTogether
    })
    asks.set(pool, ask)
    return await ask(item)
  }
}
