// Holds what a test does at a place, until the test lets it go on.

/** A gate that holds from when it is closed, once, until it is opened. */
export class Gate {
  #open = () => {}
  #opened: Promise<void> | undefined
  #arrive = () => {}
  readonly arrived = new Promise<void>((resolve) => { this.#arrive = resolve })

  close (): void { this.#opened ??= new Promise((resolve) => { this.#open = resolve }) }
  open (): void { this.#open() }
  async pass (): Promise<void> {
    if (this.#opened) this.#arrive()
    await this.#opened
  }
}
