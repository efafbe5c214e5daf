// Names as searches compare them.

/** Folded here and not in SQL: what Postgres takes for the other case of a letter depends on how a cluster was made. */
export const foldCase = (text: string) => text.normalize('NFC').toLowerCase()

/** An index has no room for more, and nobody types more. */
const longest = 200

/** The beginning of a name, as it fits into an index and a text column. */
export function foldedName (name: string): string {
  const folded = foldCase(name).replaceAll('\0', '')
  if (folded.length <= longest) return folded
  return [...folded.slice(0, 2 * longest)].slice(0, longest).join('') // by whole characters
}
