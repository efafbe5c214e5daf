// Hands out the integer ids of the interface: taken from Postgres in blocks, gaps allowed, never reused.
import type { Pool } from 'pg'
import { Rejection } from '../domain/rejection.js'

export interface Ids {
  /** @throws NotCaughtUp, what `hold` throws, or the error of Postgres */
  take (kind: 'assistant' | 'lead', count?: number): Promise<number[]>
}

/**
 * The projections have not passed the log's head of our start yet: until they have, the sequences may be behind
 * ids that the log already knows.
 */
export class NotCaughtUp extends Error {
  override readonly name = 'NotCaughtUp'
}

/** Must equal the increments of the sequences in the migrations. */
const blockSizes = { assistant: 20, lead: 200 }

/**
 * `isCaughtUp` answers whether the projections have passed the head that was read at the start. `hold` throws while
 * this database is behind the log; it is asked before each block, so also when it was restored under a running process.
 */
export function openIds (
  pool: Pool, isCaughtUp: () => Promise<boolean>, hold: () => Promise<void> = async () => {}
): Ids {
  const left = { assistant: [] as number[], lead: [] as number[] }
  const refilling = { assistant: Promise.resolve(), lead: Promise.resolve() }
  let caughtUp = false

  return {
    async take (kind, count = 1) {
      caughtUp ||= await isCaughtUp()
      if (!caughtUp) throw new NotCaughtUp('ids are given out once the projections have caught up with the log')
      while (left[kind].length < count) await refill(kind, count)
      return left[kind].splice(0, count)
    }
  }

  function refill (kind: 'assistant' | 'lead', count: number): Promise<void> {
    refilling[kind] = refilling[kind].catch(() => {}).then(async () => {
      if (left[kind].length >= count) return // somebody before us in the queue did it
      await hold()
      const { rows } = await pool.query<{ first: string }>(
        'SELECT ledger.take_ids($1::regclass) AS first', [`ledger.${kind}_ids`])
      left[kind].push(...Array.from({ length: blockSizes[kind] }, (_, index) => Number(rows[0]?.first) + index))
    })
    return refilling[kind]
  }
}

const mostTaken = 10

/** Creates under further ids where a stream has the first ones: the sequence may be behind the log. */
export async function passOverTaken<Outcome> (create: () => Promise<Outcome>): Promise<Outcome> {
  for (let taken = 1; ; taken++) {
    try {
      return await create()
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'id-taken') || taken === mostTaken) throw error
    }
  }
}
