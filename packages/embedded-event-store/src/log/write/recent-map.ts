// A map of bounded size: it keeps the `capacity` keys that were used last, and at most twice as many.

export class RecentMap<V> {
  #recent = new Map<string, V>()
  #older = new Map<string, V>()
  readonly #capacity: number

  constructor (capacity: number) {
    this.#capacity = capacity
  }

  get (key: string): V | undefined {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set (key: string, value: V): void {
    if (this.#recent.size >= this.#capacity && !this.#recent.has(key)) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, value)
  }

  clear (): void {
    this.#recent = new Map()
    this.#older = new Map()
  }
}
