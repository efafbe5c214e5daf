// A map that forgets: it keeps at least `capacity` of the keys used last, at most twice as many.

export class Generations<V> {
  #young = new Map<string, V>()
  #old = new Map<string, V>()
  readonly #capacity: number

  constructor (capacity: number) {
    this.#capacity = capacity
  }

  get (key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set (key: string, value: V): void {
    if (this.#young.size >= this.#capacity && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  clear (): void {
    this.#young = new Map()
    this.#old = new Map()
  }
}
