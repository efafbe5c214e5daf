// Does what users asked for of a person. Whatever breaks off is done again from its beginning.
import type { Pool, PoolClient } from 'pg'
import { digested, findPerson } from '../../projections/persons.js'
import { endRequest, findRequest } from '../../src/commands/person-requests.js'
import type { PersonRequest } from '../../src/features/persons/model.js'
import { isOfOutage } from '../../src/log/errors.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Services } from '../../src/services/services.js'
import { writeDocument } from './document.js'
import { beginExport } from './parts.js'
import { findDue, lockRequest, postpone, removeRequest, type DueRequest, type NewPersonRequest } from './requests.js'

export interface PersonWork extends Pick<Services, 'pool' | 'streams' | 'positions' | 'keys' | 'phoneHash'> {
  log: { warn (details: object, message: string): void }
  /** What has to have come as far as a request. */
  sources?: readonly string[]
  find?: typeof findPerson
}

/**
 * One step of one request that is due.
 * @param id of the only one that is meant @returns whether more may be due already
 */
export async function continueRequests (work: PersonWork, signal: AbortSignal, id?: string): Promise<boolean> {
  const due = await findDue(work.pool, id)
  return due !== undefined && await continueRequest(work, due, signal)
}

/** @returns whether it has come to its end, or will never: nothing is left of it */
async function continueRequest (work: PersonWork, due: DueRequest, signal: AbortSignal): Promise<boolean> {
  const { pool, streams, positions, sources = ['leads', 'calls', 'deliveries'] } = work
  const found = await findRequest(streams, due.id)
  if (!found) return await leave(pool, due)
  const { request, position } = found
  if (request.status === 'processing') {
    if ((await areBefore(positions, sources, position)).length > 0) return await later(pool, due.id)
    const isDone = await tryTo(work, due, request, signal)
    if (isDone === undefined) return false
    await endRequest(streams, due.id, isDone)
  }
  await removeRequest(pool, due.id)
  return true
}

/** Its event is not there, and after a day will not come any more. */
async function leave (pool: Pool, { id, isOld }: DueRequest): Promise<boolean> {
  if (!isOld) return await later(pool, id)
  await removeRequest(pool, id)
  return true
}

const soonSeconds = 1

async function later (pool: Pool, id: string): Promise<false> {
  await postpone(pool, id, soonSeconds)
  return false
}

const mostTries = 5

/** Whether all of it was done; nothing while it is to be tried again, or another process is at it. */
async function tryTo (
  work: PersonWork, { id, tries }: DueRequest, { type }: PersonRequest, signal: AbortSignal
): Promise<boolean | undefined> {
  try {
    if (type !== 'export') throw new Error(`this release knows no request of type ${type}`)
    const isOurs = await inTransaction(work.pool, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ') // all of the document is of one instant
      const asked = await lockRequest(tx, work.keys, id)
      if (asked) await exportPerson(work, tx, asked, signal)
      return asked !== undefined
    })
    return isOurs ? true : undefined
  } catch (error) {
    if (signal.aborted || isOfOutage(error)) throw error
    const isLast = tries + 1 >= mostTries
    work.log.warn({ err: error, request: id, isLast }, 'a request for the data of a person failed')
    if (isLast) return false
    await postpone(work.pool, id, 10 * 4 ** tries, true)
    return undefined
  }
}

async function exportPerson (
  { keys, phoneHash, find = findPerson }: PersonWork, tx: PoolClient, asked: NewPersonRequest, signal: AbortSignal
): Promise<void> {
  const { write, end } = await beginExport(tx, keys, asked)
  await writeDocument(tx, asked, find(tx, digested(asked, phoneHash), signal), write)
  await end()
}

/** Each look at a source that is behind takes so long, in milliseconds. */
const lookMs = 1_000

/** Which of them have not come as far as the position. */
export async function areBefore (
  positions: Services['positions'], who: readonly string[], position: bigint
): Promise<string[]> {
  const come = await Promise.all(who.map((source) => positions.reached(source, position, lookMs)))
  return who.filter((_source, nth) => !come[nth])
}
