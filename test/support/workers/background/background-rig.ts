// Requests in the background on a real database and a real queue; a toy kind counts.
import { randomUUID } from 'node:crypto'
import { acceptRequest, findRequest, prepareRequest } from '../../../../workers/background/requests.js'
import { startBackground, type Background, type BackgroundOptions } from '../../../../workers/background/start.js'
import type { ScratchRedis } from '../../back-ends/redis.js'
import { eventually } from '../../eventually.js'
import { keepingLog, scratchLedger, type ScratchLedger } from '../../postgres/ledger.js'
import type { Teardown } from '../../teardown.js'
import { addCountTable, counting, type CountingOptions, type CountingProgress } from './counting.js'

export interface BackgroundRig extends ScratchLedger {
  log: ReturnType<typeof keepingLog>
  /** Starts a worker in this process. */
  start (options?: Partial<CountingOptions & BackgroundOptions>): Promise<Background>
  /** A request to count that was accepted. @returns its id */
  ask (to: number, userId?: string): Promise<string>
  status (id: string, userId?: string): ReturnType<typeof findRequest<CountingProgress>>
  ended (id: string, userId?: string): Promise<unknown>
  /** The steps that were kept, in their order. */
  steps (id: string): Promise<number[]>
  emptyQueue (): Promise<void>
}

/** On a database of its own; its queue is in Redis where that is given, and is emptied before. */
export async function backgroundRig (t: Teardown, redis?: ScratchRedis): Promise<BackgroundRig> {
  const ledger = await scratchLedger(t)
  const { pool, notifications, databaseUrl } = ledger
  await redis?.flush()
  await addCountTable(pool)
  const log = keepingLog()
  const status = (id: string, userId = '1') => findRequest<CountingProgress>(pool, ['counting'], userId, id)
  return {
    ...ledger,
    log,
    async start (options = {}) {
      const holder = randomUUID()
      const kinds = { counting: counting(pool, { worker: holder, ...options }) }
      const stalled = { lockDuration: 1_000, stalledInterval: 500 }
      const quick = { turnMs: 50, reconcileEveryMs: 200, retryMs: 20, stalled }
      const given = { kinds, holder, log, mayWork: () => true, ...quick, ...options }
      const started = await startBackground({ pool, notifications, databaseUrl, redisUrl: redis?.url, ...given })
      t.teardown(() => started.stop())
      return started
    },
    async ask (to, userId = '1') {
      const id = randomUUID()
      await prepareRequest(pool, { id, kind: 'counting', userId, input: { to } }, 100)
      await acceptRequest(pool, id)
      return id
    },
    status,
    ended: (id, userId) => eventually(async () => {
      const state = (await status(id, userId))?.state
      return state === 'completed' || state === 'failed'
    }, 60_000),
    async steps (id) {
      const { rows } = await pool.query<{ step: number }>('SELECT step FROM counted WHERE request = $1 ORDER BY n', [id])
      return rows.map(({ step }) => step)
    },
    emptyQueue: async () => { await (redis ? redis.flush() : pool.query('TRUNCATE queue.job CASCADE')) }
  }
}
