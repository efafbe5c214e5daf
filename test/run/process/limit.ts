// A time after which something is over, and which can be put off.

export class Limit {
  isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor (readonly onOver: () => void) {}

  /** From now on; never when 0. */
  set (ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = ms === 0 ? undefined : setTimeout(() => { this.#over() }, ms).unref()
  }

  #over (): void {
    this.isOver = true
    this.onOver()
  }
}
