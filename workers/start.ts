// The worker role: dispatcher, deliveries and reconciler, started and stopped together.
import { isLocked } from '../src/postgres/problems.js'
import { endsWithin, pause } from '../src/timing.js'
import type { Services } from '../src/services/services.js'
import { runSubscription, type RunOptions } from '../src/subscriptions/run.js'
import { send } from './deliver/send.js'
import { dispatcher } from './dispatch/dispatch.js'
import { keepMonths } from './deliveries/retention.js'
import { openSender, type SenderOptions } from './deliveries/sender.js'
import { listenForDue } from './deliveries/webhooks.js'
import { withMarkers, type Marking } from './dispatch/marker.js'
import { openPoster } from './deliver/post.js'
import { openQueue, type JobQueue, type QueueOptions } from './queue/queue.js'
import { type Periodic, runPeriodic } from './periodic.js'
import { openTasks, type AlertHook } from './operate/upkeep.js'
import { refuseLostKeys, tellNeededKeys } from './operate/reseal.js'

/** `pool` is for attempts: a statement without an answer within seconds is retried on another connection. */
export interface WorkerDeps extends Omit<QueueOptions, 'log'>,
  Pick<SenderOptions, 'onAttempt' | 'onExhausted' | 'reconcileEveryMs'>,
  Pick<Services, 'streams' | 'logGuard' | 'notifications' | 'holder' | 'keys'>,
  Partial<Pick<Services, 'consumerPool'>> {
  log: RunOptions['log']
  webhook: {
    /** Waits before each attempt, in milliseconds. */
    schedule: number[]
    /** Whole time of a request, in milliseconds. */
    timeoutMs: number
    allowHttp: boolean
    allowCidrs: string[]
    /** How long payloads and attempts are kept. */
    retentionDays: number
  }
  version: string
  /** The operator's hook, where there is one. */
  alert?: AlertHook | undefined
  /** Further periodic tasks, which one worker of many runs while it may send. */
  tasks?: Periodic[]
  /** How long a stop waits for running attempts before they are handed over, in milliseconds. */
  graceMs?: number
  markEveryMs?: number // between two markers
}

export type Workers = Awaited<ReturnType<typeof startWorkers>>

const usualGraceMs = 17_000
/** A batch that is under way ends by then, or its connection is dead. */
const batchWithinMs = 11_000
/** For a last marker and last jobs; if they fail, other workers make up for both. */
const lastWordsMs = 2_000

/**
 * Starts the worker role. The clients stay the caller's; the queue's connections are made and closed here.
 * @throws when this process must not start, for instance with a lost key
 */
export async function startWorkers (deps: WorkerDeps) {
  const stopping = new AbortController()
  const { signal } = stopping
  const { pool, keys, holder, logGuard: { maySend }, log, version, webhook } = deps
  const { schedule, timeoutMs, retentionDays } = webhook
  await Promise.all([refuseLostKeys(pool, keys), keepMonths(pool, retentionDays).catch((err: unknown) => {
    if (!isLocked(err)) throw err
    log.warn({ err }, 'months of webhook attempts are locked, for instance by a dump: an hourly task makes them')
  })])
  const queue = await openQueue(deps)
  const poster = openPoster(webhook)
  const sending = { pool, poster, keys, timeoutMs, rules: webhook, version }
  const { onAttempt, onExhausted, reconcileEveryMs } = deps
  const sender = await openSender({
    ...{ pool, jobs: queue, holder, schedule, maySend, onAttempt, onExhausted, log, reconcileEveryMs },
    send: (attempt, signal) => send(attempt, signal, sending)
  })
  const wake = (assistants: Iterable<string>) => sender.wake(assistants)
  const listener = listenForDue(deps.notifications, (assistantId) => wake([assistantId]))
  const batches = { ...deps, pool: deps.consumerPool ?? pool }
  const dispatching = dispatcher({ ...batches, firstDelayMs: schedule[0] ?? 0, wake })
  const marking = withMarkers(dispatching, { ...batches, everyMs: deps.markEveryMs })
  const upkeep = openTasks({ ...batches, retentionDays, signal })
  const whileAllowed = [...sender.tasks, ...upkeep.sending, ...deps.tasks ?? []].map((task): Periodic =>
    ({ ...task, run: async (signal) => { if (maySend()) await task.run(signal) } }))
  const tasks = [...upkeep.always, ...whileAllowed]
  const working = whileAlive(queue, { signal, log }, (signal) => Promise.all([
    followCalls(marking, batches, signal),
    runPeriodic(tasks, { ...batches, name: 'worker', signal })
  ]))
  const loops = [working, tellNeededKeys({ ...batches, signal })]
  let isClosed = false
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopping.abort()
    listener.close()
    const looped = endsWithin(batchWithinMs, Promise.all(loops)).then(() => endsWithin(lastWordsMs, marking.stop()))
    await Promise.all([queue.stopWork(), sender.stop(deps.graceMs ?? usualGraceMs), looped])
    await queue.close()
    await Promise.all([poster.close(), upkeep.close()])
    isClosed = true
  }
  return {
    /** Now: it asks the queue. A closed one answers nobody. */
    assertAnswers: async () => { if (!isClosed) await queue.assertAnswers() },
    /** Cuts off attempts that are under way: they are made again. */
    handOver: () => sender.handOver(),
    /** Starts no new attempts; running ones end, or are handed over, within 20 s. */
    stop: () => stopped ??= stop()
  }
}

async function followCalls ({ consumer }: Marking, deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  await deps.logGuard.untilMaySend(signal)
  await runSubscription(consumer, { ...deps, sameLog: deps.logGuard, signal })
}

const lookEveryMs = 1_000

/**
 * Runs `work` until `signal` is aborted, but not while the queue is dead: then it gives up its leases, and a process
 * whose queue answers acquires them.
 */
async function whileAlive (
  queue: JobQueue, { signal, log }: Pick<WorkerDeps, 'log'> & { signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<unknown>
): Promise<void> {
  while (!signal.aborted) {
    const ended = new AbortController()
    const working = work(AbortSignal.any([signal, ended.signal]))
    let reason: string | undefined
    while (!signal.aborted && reason === undefined) {
      await pause(lookEveryMs, signal)
      reason = queue.silence()
    }
    ended.abort()
    await working
    if (signal.aborted) return
    log.warn({ reason }, 'the webhook queue is dead: this process gives up its part of the deliveries')
    while (!signal.aborted && queue.silence() !== undefined) await pause(lookEveryMs, signal)
    if (!signal.aborted) log.info({}, 'the webhook queue answers again')
  }
}
