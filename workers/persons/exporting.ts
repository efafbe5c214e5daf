// Makes the exports that users asked for, in one process of many. Whatever breaks off is done again from its beginning.
import { endsWithin } from '../../src/timing.js'
import type { Services } from '../../src/services/services.js'
import { hasRows, runPeriodic } from '../periodic.js'
import {
  removeOldExports, beginExport, findDue, lockRequest, postpone, removeRequest, type DueRequest, type NewPersonRequest
} from './exports.js'
import type { Pool, PoolClient } from 'pg'
import { digested, findPerson } from '../../projections/persons.js'
import { endRequest, findRequest } from '../../src/commands/person-requests.js'
import type { PersonRequest } from '../../src/features/persons/model.js'
import { isOfOutage } from '../../src/log/errors.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { CallReport } from '../../src/features/calls/model.js'
import { findWholeDeliveries } from '../deliveries/read/find-deliveries.js'

/** For the export of a person who was called for years. */
const longestPassMs = 30 * 60_000
/** A part that is being read or written ends by then, or its connection is dead. */
const partWithinMs = 5_000

/** @returns what ends it: what is broken off is begun anew by another process, or by the next start */
export function startPersons (services: Services): () => Promise<void> {
  const { pool, consumerPool: leasePool, holder, log } = services
  const stopping = new AbortController()
  const running = runPeriodic([
    { name: 'old exports', everyMs: 60_000, run: () => removeOldExports(pool) },
    {
      name: 'persons',
      everyMs: 2_000,
      passWithinMs: longestPassMs,
      async run ({ signal }) {
        if (!await hasRows(leasePool, 'person_requests')) return
        return await continueRequests(services, signal) ? 'again' : undefined
      }
    }
  ], { pool: leasePool, name: 'persons', holder, signal: stopping.signal, log })
  return async () => {
    stopping.abort()
    await endsWithin(partWithinMs, running)
  }
}

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

type Visit<Item> = (items: Item[]) => Promise<void>
interface Asked { userId: string, phoneNumber: string }
/** @param ofCall which the text tells of, unless it is erased */
type Write = (text: string, ofCall?: string) => Promise<void>

export async function writeDocument (
  tx: PoolClient, { userId, phoneNumber }: Asked, known: ReturnType<typeof findPerson>, write: Write
): Promise<void> {
  const now = new Date().toISOString()
  await write(`{\n"phone_number": ${JSON.stringify(phoneNumber)},\n"exported_at": ${JSON.stringify(now)}`)
  await writeList(write, 'leads', (visit) => known.leads(visit))
  await writeList(write, 'contacts', (visit) => known.contacts(visit))
  const callOf = ({ call_id, erased }: CallReport) => erased ? undefined : call_id
  await writeList(write, 'calls', (visit) => known.calls(visit), callOf)
  await writeList(write, 'deliveries', (visit) => known.callIds(async (ids) => {
    for (const id of ids) await visit(await findWholeDeliveries(tx, userId, id))
  }))
  await write(`,\n"blacklist_entry": ${JSON.stringify(await known.blacklistEntry())}\n}\n`)
}

async function writeList<Item extends object> (
  write: Write, name: string, read: (visit: Visit<Item>) => Promise<void>, callOf?: (item: Item) => string | undefined
): Promise<void> {
  await write(`,\n${JSON.stringify(name)}: [`)
  let before = '\n'
  await read(async (items) => {
    for (const item of items) {
      await write(before + JSON.stringify(item), callOf?.(item))
      before = ',\n'
    }
  })
  await write(']')
}
