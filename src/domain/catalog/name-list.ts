// The names on a list, by key. Each change makes a new list and leaves the former one as it was.

export type Key = number | string

/** A change copies one of them: with 100,000 names some hundred entries. */
const bucketCount = 1_024

export class NameList {
  static readonly empty = new NameList(Array.from({ length: bucketCount }, () => new Map<Key, string>()))

  private constructor (private readonly buckets: ReadonlyArray<ReadonlyMap<Key, string>>) {}

  get (key: Key): string | undefined {
    return this.buckets[bucketOf(key)]?.get(key)
  }

  with (key: Key, name: string): NameList {
    const at = bucketOf(key)
    return new NameList(this.buckets.with(at, new Map(this.buckets[at]).set(key, name)))
  }

  * [Symbol.iterator] (): Generator<[Key, string]> {
    for (const bucket of this.buckets) yield * bucket
  }
}

/** FNV-1a of its text: keys that differ a little lie in different buckets. */
function bucketOf (key: Key): number {
  let hash = 0x811c9dc5
  for (const character of String(key)) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % bucketCount
}
