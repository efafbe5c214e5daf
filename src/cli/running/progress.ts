// Shows how far long work is: a bar with rate and ETA on a terminal, a line every few seconds elsewhere.
import type { Writable } from 'node:stream'
import { SingleBar } from 'cli-progress'
import { say } from './output.js'

const barEveryMs = 100
const lineEveryMs = 5_000
const whole = 1_000
const formatOf = ({ events, done }: Shown) => {
  if (done === undefined) return events === 0 ? '{doing} ...' : '{doing} {events} {things} | {rate}/s'
  return '{doing} [{bar}] {percentage}% | {events} {things} | {rate}/s | ETA {eta_formatted}'
}

/** Of any long work; what a transfer reports is one of these. */
export interface Shown {
  doing: string
  /** Since this began. */
  events: number
  /** What they are called, where they are no events. */
  things?: string
  /** 0 to 1; absent where nobody knows the end, and then there is no bar. */
  done?: number
}

export interface ProgressView {
  update (progress: Shown): void
  stop (): void
}

export function viewProgress (stream: Writable & { isTTY?: boolean } = process.stderr): ProgressView {
  let bar: SingleBar | undefined
  let format: string | undefined
  let latest: Shown | undefined
  let [beganAt, shownAt] = [0, 0]
  return { update, stop }

  function update (progress: Shown): void {
    const now = performance.now()
    if (progress.doing !== latest?.doing) begin(progress, now)
    else if (stream.isTTY && format !== formatOf(progress)) draw(progress)
    latest = progress
    if (now - shownAt >= (stream.isTTY ? barEveryMs : lineEveryMs)) show(progress, now)
  }

  function stop (): void {
    if (bar && latest) show(latest, performance.now())
    bar?.stop()
    bar = undefined
  }

  function begin (progress: Shown, now: number): void {
    stop()
    beganAt = shownAt = now
    if (stream.isTTY) draw(progress)
  }

  /** Also anew, where its end was not known before, or it has begun to count. */
  function draw (progress: Shown): void {
    bar?.stop()
    bar = startedBar(progress, { format: format = formatOf(progress), stream })
  }

  function show (progress: Shown, now: number): void {
    shownAt = now
    const ms = Math.max(now - beganAt, 1)
    if (bar) bar.update(thousandths(progress), countsOf(progress, ms))
    else say(lineOf(progress, ms))
  }
}

function startedBar (progress: Shown, { format, stream }: { format: string, stream: Writable }): SingleBar {
  const { doing, things = 'events', events } = progress
  const bar = new SingleBar({ format, stream, hideCursor: true })
  bar.start(whole, thousandths(progress), { doing: doing.padEnd(9), events, rate: 0, things })
  return bar
}

function lineOf ({ doing, events, things = 'events', done }: Shown, ms: number): string {
  const left = done ? `, ${Math.floor(done * 100)} %, ${eta(done, ms)} left` : ''
  return `${doing}: ${events} ${things}, ${rate(events, ms)}/s${left}`
}

const countsOf = ({ events, things = 'events' }: Shown, ms: number) => ({ events, rate: rate(events, ms), things })
const rate = (events: number, ms: number) => Math.round(events * 1000 / ms)

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
