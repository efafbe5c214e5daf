// Shows the progress of long work: a bar with rate and ETA on a terminal, a line every few seconds elsewhere.
import { SingleBar } from 'cli-progress'
import { say } from './output.js'

const barEveryMs = 100
const lineEveryMs = 5_000
const whole = 1_000

/** Progress of any long work, such as a transfer. */
interface Shown {
  doing: string
  /** Counted since the start of this work. */
  events: number
  /** Their name, if they are not events. */
  things?: string
  /** 0 to 1; absent when the total is unknown, and then there is no bar. */
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

  /** Also replaces a bar once its total becomes known, or counting has begun. */
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

/** Shows the progress of `work`. @throws the reason of `signal` once that is aborted */
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
