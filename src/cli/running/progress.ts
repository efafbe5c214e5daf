// Shows how far long work is: a bar with rate and ETA on a terminal, a line every few seconds elsewhere.
import { SingleBar } from 'cli-progress'
import { say } from './output.js'

const barEveryMs = 100
const lineEveryMs = 5_000
const whole = 1_000
const barFormat = '{doing} [{bar}] {percentage}% | {events} {things} | {rate}/s | ETA {eta_formatted}'

/** Of any long work; what a transfer reports is one of these. */
export interface Shown {
  doing: string
  /** Since this began. */
  events: number
  /** What they are called, where they are no events. */
  things?: string
  /** 0 to 1; absent where nobody knows the end. */
  done?: number
}

export interface ProgressView {
  update (progress: Shown): void
  stop (): void
}

export function viewProgress (): ProgressView {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: barFormat, stream: process.stderr, hideCursor: true })
    : undefined
  let latest: Shown | undefined
  let beganAt = 0
  let shownAt = 0
  return { update, stop }

  function update (progress: Shown): void {
    const now = performance.now()
    if (progress.doing !== latest?.doing) begin(progress, now)
    latest = progress
    if (now - shownAt >= (bar ? barEveryMs : lineEveryMs)) show(progress, now)
  }

  function stop (): void {
    if (bar && latest) show(latest, performance.now())
    bar?.stop()
  }

  function begin (progress: Shown, now: number): void {
    stop()
    beganAt = shownAt = now
    const { doing, things = 'events' } = progress
    bar?.start(whole, thousandths(progress), { doing: doing.padEnd(9), events: 0, rate: 0, things })
  }

  function show (progress: Shown, now: number): void {
    const { doing, events, things = 'events', done } = progress
    shownAt = now
    const rate = Math.round(events * 1000 / Math.max(now - beganAt, 1))
    const left = done ? `, ${Math.floor(done * 100)} %, ${eta(done, now - beganAt)} left` : ''
    if (bar) bar.update(thousandths(progress), { events, rate, things })
    else say(`${doing}: ${events} ${things}, ${rate}/s${left}`)
  }
}

const thousandths = ({ done = 0 }: Shown) => Math.floor(done * whole)
const eta = (done: number, ms: number) => `${Math.ceil(ms * (1 - done) / done / 1000)} s`

/** Shows the progress of `work` until it ends. @throws the reason of `signal` once that is aborted */
export async function withProgress<Result> (
  signal: AbortSignal, work: (onProgress: ProgressView['update']) => Promise<Result>
): Promise<Result> {
  const view = viewProgress()
  try {
    return await work(view.update)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    view.stop()
  }
}
