// Shows how far long work is: a bar with rate and ETA on a terminal, a line every few seconds elsewhere.
import { SingleBar } from 'cli-progress'
import { say } from './output.js'

const barEveryMs = 100
const lineEveryMs = 5_000
const whole = 1_000

/** Of any long work; what a transfer reports is one of these. */
interface Shown {
  doing: string
  /** Since this began. */
  events: number
  /** What they are called, where they are no events. */
  things?: string
  /** 0 to 1; absent where nobody knows the end, and then there is no bar. */
  done?: number
}

export type OnProgress = (progress: Shown) => void

function viewProgress (): { update: OnProgress, stop (): void } {
  const stream = process.stderr
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
    const { doing, things = 'events', events } = progress
    bar?.stop()
    format = formatOf(progress)
    bar = new SingleBar({ format, stream, hideCursor: true })
    bar.start(whole, thousandths(progress), { doing: doing.padEnd(9), events, rate: 0, things })
  }

  function show (progress: Shown, now: number): void {
    const { doing, events, things = 'events', done } = progress
    shownAt = now
    const ms = Math.max(now - beganAt, 1)
    const rate = Math.round(events * 1000 / ms)
    if (bar) return bar.update(thousandths(progress), { events, rate, things })
    const eta = done ? `, ${Math.floor(done * 100)} %, ${Math.ceil(ms * (1 - done) / done / 1000)} s left` : ''
    say(`${doing}: ${events} ${things}, ${rate}/s${eta}`)
  }
}

function formatOf ({ events, done }: Shown): string {
  if (done === undefined) return events === 0 ? '{doing} ...' : '{doing} {events} {things} | {rate}/s'
  return '{doing} [{bar}] {percentage}% | {events} {things} | {rate}/s | ETA {eta_formatted}'
}

const thousandths = ({ done = 0 }: Shown) => Math.floor(done * whole)

/** Shows the progress of `work` until it ends. @throws the reason of `signal` once that is aborted */
export async function withProgress<Result> (
  signal: AbortSignal, work: (onProgress: OnProgress) => Promise<Result>
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
