// Waits that end: between tries, for work that may take too long, for the next run or the next beat of a common clock.
import { setTimeout as delay } from 'node:timers/promises'

/** Waits, or returns early when `signal` is aborted. */
export async function pause (ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}

/** The result of `work`. @throws what `work` does, or `late()` when it takes longer than `ms` */
export async function withTimeout<Result> (ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  const timer = new AbortController()
  const timeout = delay(ms, undefined, { signal: timer.signal }).then(() => { throw late() })
  timeout.catch(() => {}) // the loser of the race, or aborted below
  try {
    return await Promise.race([work, timeout])
  } finally {
    timer.abort()
  }
}

/** Whether `work` ended in time, with or without an error. */
export async function endsWithin (ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const timer = new AbortController()
  const ended = Promise.resolve(work).then(() => true, () => true)
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
  return await Promise.race([ended, late]).finally(() => timer.abort())
}

/** Begins the work at most once in `everyMs`, and never beside itself; others get the result of the last run. */
export function atMostEvery<Result> (everyMs: number, work: () => Promise<Result>): () => Promise<Result> {
  const alone = joinRunning(work)
  let notBefore = -Infinity
  let last: Promise<Result> | undefined
  return () => {
    const now = performance.now()
    if (last && now < notBefore) return last
    notBefore = now + everyMs
    last = alone()
    return last
  }
}

/** Does not begin the work again while it runs: who asks then gets the result of that run. */
export function joinRunning<Result> (work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => running ??= work().finally(() => { running = undefined })
}

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

interface Beat {
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
