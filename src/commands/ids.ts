// Hands out the integer ids of the interface: taken from Postgres in blocks, gaps allowed, never reused.
import type { Pool } from 'pg'
import { largestId, forEachKind, type IdKind } from '../domain/json.js'
import { Rejection } from '../domain/rejection.js'

export type Ids = ReturnType<typeof openIds>

/** Projections lag the log's head of our start, so the sequences may lag ids that the log has. */
export class NotCaughtUp extends Error {
  override readonly name = 'NotCaughtUp'
}

/** The next block would pass the highest id that may be given out. Nothing was written. */
export class IdsUsedUp extends Error {
  override readonly name = 'IdsUsedUp'
}

/** Must equal the increments of the sequences in the migrations. */
const blockSizes = { assistant: 20, lead: 200, campaign: 20, phone_number: 20, api_key: 20, blacklist: 20 }

/**
 * `isCaughtUp`: the projections have passed the head that was read at the start. `hold` throws while this database is
 * behind the log; it runs before each block, since a database can be restored under a running process. `otherLog` is
 * the error if the log was replaced: then no id is given out.
 */
export function openIds (
  pool: Pool, isCaughtUp: () => Promise<boolean>, hold: () => Promise<void> = async () => {},
  otherLog: () => Error | undefined = () => undefined
) {
  const left = forEachKind<number[]>(() => [])
  const refilling = forEachKind(() => Promise.resolve())
  let caughtUp = false

  return {
    /** @throws NotCaughtUp, IdsUsedUp, OtherLog, what `hold` throws, or the error of Postgres */
    async take (kind: IdKind, count = 1): Promise<number[]> {
      const problem = otherLog()
      if (problem) throw problem
      caughtUp ||= await isCaughtUp()
      if (!caughtUp) throw new NotCaughtUp('ids are given out once the projections have caught up with the log')
      while (left[kind].length < count) await refill(kind, count)
      return left[kind].splice(0, count)
    }
  }

  function refill (kind: IdKind, count: number): Promise<void> {
    refilling[kind] = refilling[kind].catch(() => {}).then(async () => {
      if (left[kind].length >= count) return // another caller in the queue did it
      await hold()
      const first = await takeBlock(pool, kind)
      left[kind].push(...Array.from({ length: blockSizes[kind] }, (_, index) => first + index))
    })
    return refilling[kind]
  }
}

/** @returns the first id of the block @throws IdsUsedUp */
async function takeBlock (pool: Pool, kind: IdKind): Promise<number> {
  const { rows } = await pool.query<{ first: string | null }>(`
    SELECT CASE WHEN ledger.given_ids($1::regclass) <= $2 THEN ledger.take_ids($1::regclass) END AS first`,
  [`ledger.${kind}_ids`, largestId - blockSizes[kind]])
  const first = rows[0]?.first ?? undefined
  if (first === undefined || Number(first) + blockSizes[kind] - 1 > largestId) {
    throw new IdsUsedUp(`the sequence of ${kind} ids has come to its end: \`ringledger ids check\` shows it`)
  }
  return Number(first)
}

const mostTaken = 10

/** Retries with further ids if a stream has the first ones: the sequence may lag the log. */
export async function passOverTaken<Outcome> (create: () => Promise<Outcome>): Promise<Outcome> {
  for (let taken = 1; ; taken++) {
    try {
      return await create()
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'id-taken') || taken === mostTaken) throw error
    }
  }
}
