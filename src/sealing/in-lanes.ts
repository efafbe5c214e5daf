// Does work for many, some at a time.

const lanes = 32

/** The results in the order of the items. @throws the first error; what is under way then goes on */
export async function inLanes<Item, Result> (
  items: readonly Item[], work: (item: Item) => Promise<Result>
): Promise<Result[]> {
  const results: Result[] = []
  const next = items.entries()
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, async () => {
    for (const [index, item] of next) results[index] = await work(item)
  }))
  return results
}
