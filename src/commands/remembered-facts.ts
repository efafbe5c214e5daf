// Remembers facts that were just looked up: each new lead asks for its campaign again. A command still asks Postgres
// for other things, so while Postgres is away no command comes as far as the log.

/** Of facts, of a few hundred bytes each. */
const mostKept = 1_000
/** A connection that hears of changes may have died silently. */
const trustedMs = 2_000

/**
 * Looks facts of one kind up, or gives what was found lately; `key` names a fact. What was found counts as long as the
 * read model stays where it was before the look-up: each change moves it on, and its projection tells every process.
 * What is missing is looked up each time.
 * @param passed the position that the read model is past already; nothing while it is being filled
 */
export function rememberFacts<Fact> (
  passed: () => Promise<bigint | undefined>, isThere: (fact: Fact) => boolean
): (key: string, find: () => Promise<Fact>) => Promise<Fact> {
  const kept = new Map<string, { fact: Fact, until: number }>()
  let keptAt: bigint | undefined
  return async (key, find) => {
    const at = await passed()
    if (at !== keptAt || kept.size >= mostKept) kept.clear()
    keptAt = at
    const known = kept.get(key)
    if (known && performance.now() < known.until) return known.fact
    const until = performance.now() + trustedMs
    const fact = await find()
    if (at !== undefined && at === keptAt && isThere(fact)) kept.set(key, { fact, until })
    return fact
  }
}
