// A common clock for what looks again and again: who waits for the same period is woken at the same moment, so that one
// look may serve all of them, and a process that has nothing to do wakes up seldom.

class Beats {
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor (private readonly everyMs: number) {}

  add (wake: () => void): void {
    this.#waiting.add(wake)
    this.#timer ??= setTimeout(() => this.#strike(), untilBeat(this.everyMs))
  }

  remove (wake: () => void): void {
    this.#waiting.delete(wake)
    if (this.#waiting.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #strike (): void {
    this.#timer = undefined
    const woken = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of woken) wake()
  }
}

/** How long it is to the next multiple of `everyMs` that is not too near: a half of it to one and a half. */
function untilBeat (everyMs: number): number {
  const rest = everyMs - performance.now() % everyMs
  return Math.ceil(rest < everyMs / 2 ? rest + everyMs : rest)
}

/** By their periods, of which a program has a few. */
const beatsEvery = new Map<number, Beats>()

export interface Beat {
  /** Resolves at the beat, or when it is cancelled. */
  struck: Promise<void>
  cancel (): void
}

/** The next beat of this period, half of it to one and a half from now; shared with all who wait for one meanwhile. */
export function nextBeat (everyMs: number): Beat {
  const beats = beatsEvery.get(everyMs) ?? new Beats(everyMs)
  beatsEvery.set(everyMs, beats)
  let wake = () => {}
  const struck = new Promise<void>((resolve) => { wake = resolve })
  beats.add(wake)
  return {
    struck,
    cancel () {
      beats.remove(wake)
      wake()
    }
  }
}

/** Waits for the next beat of this period; returns early when `signal` is aborted. */
export async function beat (everyMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { struck, cancel } = nextBeat(everyMs)
  signal.addEventListener('abort', cancel, { once: true })
  await struck
  signal.removeEventListener('abort', cancel)
}
