// What one process of many does now and then for all users: recoveries, probes, alerts.
import { isOfOutage } from '../../../src/log/errors.js'
import { type LoopOptions, repeatLeased } from '../../passes/leased-loop.js'

export interface UpkeepTask {
  name: string
  everyMs: number
  run (): Promise<unknown>
}

const restMs = 2_000

/**
 * Runs each task when its time has come, one after the other, until `signal` is aborted. One that fails has its turn
 * again.
 */
export async function runUpkeep (
  tasks: UpkeepTask[],
  options: Omit<LoopOptions, 'everyMs' | 'onError'> & { log: { warn (details: object, message: string): void } }
): Promise<void> {
  const { signal, log } = options
  const dueAt = new Map<UpkeepTask, number>()
  const onError = (err: unknown) => log.warn({ err }, 'the upkeep stopped, it starts again')
  await repeatLeased({ ...options, everyMs: restMs, onError }, async (pass) => {
    const due = tasks.filter((task) => (dueAt.get(task) ?? 0) <= performance.now() + restMs / 2)
    for (const task of due) {
      if (pass.signal.aborted) break
      dueAt.set(task, performance.now() + task.everyMs)
      await task.run().catch((err: unknown) => {
        if (signal.aborted || isOfOutage(err)) return // an outage is told where it is noticed
        log.warn({ err, task: task.name }, 'a task of the upkeep failed, it is tried again')
      })
    }
    return 'done'
  })
}
