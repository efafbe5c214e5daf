// Durable work on a real database; a toy kind counts.
import { randomUUID } from 'node:crypto'
import { acceptRequest, findRequest, prepareRequest } from '../../../workers/work/requests.js'
import { startWork, tidying, type TidyOptions, type WorkOptions } from '../../../workers/work/run.js'
import { eventually } from '../eventually.js'
import { keepingLog, scratchLedger, type ScratchLedger } from '../postgres/ledger.js'
import type { Teardown } from '../teardown.js'
import type { Pool } from 'pg'
import { runPeriodic } from '../../../workers/periodic.js'
import type { BackgroundKind } from '../../../workers/work/kind.js'

/** On this database, without the work that it had, or on one of its own. */
export async function workRig (t: Teardown, on?: ScratchLedger) {
  const ledger = on ?? await scratchLedger(t)
  const { pool, notifications } = ledger
  await pool.query(`
    DELETE FROM ledger.work; DROP TABLE IF EXISTS counted;
    CREATE TABLE counted (n serial, request uuid, step integer, worker text, ended boolean DEFAULT false)`)
  const log = keepingLog()
  const status = (id: string, userId = '1') => findRequest<CountingProgress>(pool, ['counting'], userId, id)
  return {
    ...ledger,
    log,
    /** Starts a worker in this process. */
    start (options: Partial<CountingOptions & WorkOptions & TidyOptions> = {}) {
      const holder = randomUUID()
      const kinds = { counting: counting(pool, { worker: holder, ...options }) }
      const quick = { turnMs: 50, lookEveryMs: 200, everyMs: 200, retryMs: 20 }
      const given = { pool, notifications, kinds, holder, log, mayWork: () => true, ...quick, ...options }
      const stopping = new AbortController()
      const passing = runPeriodic([tidying(given)], { pool, name: 'worker', holder, signal: stopping.signal, log })
      const started = startWork(given)
      t.teardown(async () => {
        stopping.abort()
        await Promise.all([started.stop(), passing])
      })
    },
    /** Accepts a request to count. @returns its id */
    async ask (to: number, userId = '1') {
      const id = randomUUID()
      await prepareRequest(pool, { id, kind: 'counting', userId, input: { to } }, 100)
      await acceptRequest(pool, id)
      return id
    },
    status,
    ended: (id: string, userId?: string) => eventually(async () => {
      const state = (await status(id, userId))?.state
      return state === 'completed' || state === 'failed'
    }, 60_000),
    /** The stored steps, in order. */
    async steps (id: string) {
      const { rows } = await pool.query<{ step: number }>('SELECT step FROM counted WHERE request = $1 ORDER BY n', [id])
      return rows.map(({ step }) => step)
    }
  }
}

interface CountingInput { to: number }
interface CountingProgress { counted: number }
export type Counting = BackgroundKind<CountingInput, CountingProgress>

interface CountingOptions {
  worker: string
  /** Called before the step is kept. */
  onStep? (step: number): Promise<void> | void
  accepted?: Set<string>
  keepDays?: number
}

export function counting (
  pool: Pool, { worker, onStep = () => {}, accepted = new Set(), keepDays = 30 }: CountingOptions
): Counting {
  return {
    keepDays,
    async work ({ id, input, progress }, turn) {
      for (let step = (progress.counted ?? 0) + 1; step <= input.to; step++) {
        await onStep(step)
        await turn.keep({ counted: step }, async (tx) => {
          await tx.query('INSERT INTO counted (request, step, worker) VALUES ($1, $2, $3)', [id, step, worker])
        })
        if (turn.isOver()) return 'again'
      }
      return { state: 'completed' }
    },
    async finish ({ id }) {
      await pool.query('UPDATE counted SET ended = true WHERE request = $1', [id])
    },
    wasAccepted: async (id) => accepted.has(id)
  }
}
