// A kind of request that counts, step by step, into a table of the test's database.
import type { Pool } from 'pg'
import type { BackgroundKind } from '../../../../workers/background/kind.js'

export interface CountingInput { to: number }
export interface CountingProgress { counted: number }
export type Counting = BackgroundKind<CountingInput, CountingProgress>

export async function addCountTable (pool: Pool): Promise<void> {
  await pool.query(
    'CREATE TABLE counted (n serial, request uuid, step integer, worker text, ended boolean DEFAULT false)'
  )
}

export interface CountingOptions {
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
