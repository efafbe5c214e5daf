// Shows how far long work is: a bar with rate and ETA on a terminal, a line every few seconds elsewhere.
import { SingleBar } from 'cli-progress'
import type { Progress } from '../event-transfer/progress.js'
import { say } from './back-ends.js'

const barEveryMs = 100
const lineEveryMs = 5_000
const whole = 1_000

export interface ProgressView {
  update (progress: Progress): void
  stop (): void
}

export function viewProgress (): ProgressView {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{doing} [{bar}] {percentage}% | {events} events | {rate}/s | ETA {eta_formatted}', stream: process.stderr, hideCursor: true })
    : undefined
  let doing: Progress['doing'] | undefined
  let beganAt = 0
  let shownAt = 0
  return { update, stop: () => bar?.stop() }

  function update (progress: Progress): void {
    const now = performance.now()
    const isDue = now - shownAt >= (bar ? barEveryMs : lineEveryMs)
    if (progress.doing !== doing) begin(progress, now)
    else if (isDue) show(progress, now)
  }

  function begin (progress: Progress, now: number): void {
    doing = progress.doing
    beganAt = shownAt = now
    bar?.stop()
    bar?.start(whole, Math.floor((progress.done ?? 0) * whole), { doing: progress.doing.padEnd(9), events: 0, rate: 0 })
  }

  function show ({ doing, events, done }: Progress, now: number): void {
    shownAt = now
    const rate = Math.round(events * 1000 / (now - beganAt))
    const left = done ? `, ${Math.floor(done * 100)} %, ${eta(done, now - beganAt)} left` : ''
    if (bar) bar.update(Math.floor((done ?? 0) * whole), { events, rate })
    else say(`${doing}: ${events} events, ${rate}/s${left}`)
  }
}

const eta = (done: number, ms: number) => `${Math.ceil(ms * (1 - done) / done / 1000)} s`
