// Moves pending deliveries after their assistant or endpoint, batch by batch.
import { continueMoves } from '../deliveries/moves/moves.js'
import { hasRows } from '../passes/has-rows.js'
import { repeatLeased, type LoopOptions } from '../passes/leased-loop.js'

export interface MovesOptions extends Pick<LoopOptions, 'pool' | 'holder' | 'signal'> {
  log: { warn (details: object, message: string): void }
  /** Between two looks, in milliseconds. */
  everyMs?: number
}

/** Moves until `signal` is aborted, in one process of many. */
export async function runMoves ({ log, everyMs = 2_000, ...options }: MovesOptions): Promise<void> {
  const onError = (err: unknown) => log.warn({ err }, 'pending webhooks were not moved, it is tried again')
  await repeatLeased({ ...options, name: 'moves', everyMs, onError }, async () => {
    if (!await hasRows(options.pool, 'moving_assistants', 'moving_endpoints')) return 'done'
    return await continueMoves(options.pool) ? 'again' : 'done'
  })
}
