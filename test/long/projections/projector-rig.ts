// A projector that may die at any moment, a writer to its log, and a comparison of its rows with its checkpoint.
import type { EventStoreDBClient } from '@eventstore/db-client'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { generationConsumer } from '../../../projections/engine/feed.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { type Streams, EventLog } from '../../../src/log/event-log.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { mainProcess } from '../../support/ringledger.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { assistantModel } from '../../support/projections/models.js'
import { emptyReadModels } from '../../support/projections/projected.js'
import { eventsAfter, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { setTimeout as delay } from 'node:timers/promises'
import { appender } from '../../support/events/appender.js'
import { assistantCreated, assistantUpdated } from '../../support/events/call-events.js'

// Writes assistants to a log, one after the other: most of them sound, a few refused by us or by Postgres.
/** So that the log stays small while processes start. */
const writeEveryMs = 30

/** By turns so many with refused ones among them and so many without: on a slow machine batches are large. */
const phase = 40

function assistantWriter (streams: Streams) {
  const append = appender(streams)
  let assistantIds = 0

  /** An assistant and an update of it. */
  async function something (): Promise<bigint> {
    const id = ++assistantIds
    await append(assistantCreated(id))
    const mayRefuse = Math.floor(id / phase) % 2 === 0
    if (mayRefuse && id % 7 === 0) await append({ stream: `assistant-${id}`, type: 'AssistantUpdated', data: { nonsense: true } })
    if (mayRefuse && id % 5 === 0) return await append(assistantUpdated(id, { assistant_name: 'refused' }))
    return await append(assistantUpdated(id, { assistant_name: `Name ${id}` }))
  }

  async function writeUntil (stopping: AbortSignal): Promise<bigint> {
    let last = 0n
    for (; !stopping.aborted; await delay(writeEveryMs)) last = await something()
    return last
  }

  /** Writes until it is stopped, which answers the last position. */
  function writing (t: Test): () => Promise<bigint> {
    const stopping = new AbortController()
    const writes = writeUntil(stopping.signal)
    const stop = () => {
      stopping.abort()
      return writes
    }
    t.teardown(stop)
    return stop
  }

  return { something, writing }
}

/** Output of runner-main: `at` is where it stops, a statement; `error` and `reason` say why its consumer stopped. */
interface Said { at?: string, sends?: string, message?: string, error?: string, reason?: string }

/** Where a runner signals itself: before the nth statement like this. Without a signal it says every statement. */
export interface SignalAt { signal?: NodeJS.Signals, at?: string, nth?: number }

/** The projection of assistants on back ends of its own. */
export async function projectorRig (t: Test) {
  const { postgres, client, connection, store } = await scratchEventStore(t)
  const { pool, databaseUrl } = await scratchLedger(t, postgres)
  const streams = new EventLog(connection)
  await emptyReadModels(pool)
  await pool.query("ALTER TABLE read_assistants_g1.assistants ADD CHECK (name <> 'refused')")
  // The circuit breaker, closed far ahead: it has tests of its own.
  await pool.query(`
    INSERT INTO ledger.circuit_breakers (consumer, position, streams, error, closed_at)
    VALUES ('read_assistants_g1', 1e18, 0, '', now())`)
  const place = { databaseUrl, eventStoreUrl: store.url, at: '', nth: 1 }
  return {
    pool,
    ...assistantWriter(streams),
    /** A runner as a process of its own. */
    startRunner: (given: SignalAt) => mainProcess<Said>(t, new URL('./runner-main.js', import.meta.url), [JSON.stringify({ ...place, ...given })]),
    rowsAreTheFold: (t: Test, message: string) => rowsAreTheFold(t, pool, client, message),
    expireLease: () => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'"),
    /** The epoch of the last owner that wrote a checkpoint. */
    claimedBy: async () => Number((await checkpointOf(pool))?.epoch),
    standby: (t: Test) => standby(t, pool, streams),
    async reached (position: bigint): Promise<void> {
      await eventually(async () => BigInt((await checkpointOf(pool))?.position ?? 0) >= position)
    }
  }
}

/** Another projector, in this process. */
function standby (t: Test, pool: Pool, streams: Streams): () => Promise<void> {
  const stopping = new AbortController()
  const options = { pool, streams, holder: 'standby', signal: stopping.signal, log: keepingLog() }
  const running = runSubscription(generationConsumer(assistants, 1, pool), options)
  const stop = async () => {
    stopping.abort()
    await running
  }
  t.teardown(stop)
  return stop
}

/** Rows and checkpoint of one instant, beside the fold of the log up to there. @returns the checkpoint */
async function rowsAreTheFold (t: Test, pool: Pool, client: EventStoreDBClient, message: string): Promise<bigint> {
  const { position, rows } = await inTransaction(pool, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    const { rows } = await tx.query<{ id: number, name: string, revision: number }>(`
      SELECT id::int, name, revision::int FROM read_assistants_g1.assistants ORDER BY id`)
    return { position: BigInt((await checkpointOf(tx))?.position ?? 0), rows }
  })
  const log = (await eventsAfter(client, 0n)).filter((event) => event.position <= position)
  const wanted = [...assistantModel(log, (_id, name) => name === 'refused').wanted]
    .map(([id, row]) => ({ id, name: Reflect.get(row, 'name'), revision: Reflect.get(row, 'revision') }))
  t.strictSame(rows, wanted.sort((a, b) => Number(a.id) - Number(b.id)), message)
  return position
}

async function checkpointOf (db: Pick<Pool, 'query'>): Promise<{ position: string, epoch: string } | undefined> {
  return (await db.query('SELECT position, epoch FROM read_assistants_g1.checkpoint')).rows[0]
}
