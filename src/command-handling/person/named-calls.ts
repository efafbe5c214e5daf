// Calls that events of erasures name, as many as go into one.

/** Who reads the event reads them with it, and each may be a megabyte. */
const mostCalls = 20

/** At least one part, as the event tells of more than its calls. */
export function inParts<Item> (items: readonly Item[]): Item[][] {
  const count = Math.max(1, Math.ceil(items.length / mostCalls))
  return Array.from({ length: count }, (_, part) => items.slice(part * mostCalls, (part + 1) * mostCalls))
}
