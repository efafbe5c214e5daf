// A projector that may die at any moment, its log with a writer at work, and the look whether rows and checkpoint agree.
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { assistants } from '../../projections/assistants.js'
import { generationConsumer } from '../../projections/engine/run.js'
import { runSubscription } from '../../src/subscriptions/run.js'
import { noStream, openStreams } from '../../src/event-store/streams.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { assistantCreated, assistantUpdated, proposed, type Told } from './call-events.js'
import { mainProcess } from './main-process.js'
import { eventually } from './eventually.js'
import { keepingLog, scratchLedger } from './ledger.js'
import { eventsAfter } from './log.js'
import { assistantModel } from './models.js'
import { emptyReadModels } from './projected.js'
import { scratchEventStore } from './scratch-event-store.js'

/** So that the log stays small while processes start. */
const writeEveryMs = 10

/** What runner-main says: `at` names the statement before which it stops, `error` and `reason` why its consumer stopped. */
interface Said { at?: string, sends?: string, message?: string, error?: string, reason?: string }

/** Where a runner signals itself: before the nth statement like this. Without a signal it says every statement. */
export interface SignalAt { signal?: NodeJS.Signals, at?: string, nth?: number }

/** The projection of assistants on back ends of its own. */
export async function projectorRig (t: Test) {
  const { postgres, client, store } = await scratchEventStore(t)
  const { pool, databaseUrl } = await scratchLedger(t, postgres)
  const streams = openStreams(client)
  await emptyReadModels(pool)
  await pool.query("ALTER TABLE read_assistants_g1.assistants ADD CHECK (name <> 'refused')")
  // The circuit breaker, closed far ahead: it has tests of its own.
  await pool.query("INSERT INTO ledger.circuit_breakers (consumer, position, streams, error, closed_at) VALUES ('read_assistants_g1', 1e18, 0, '', now())")
  /** A runner as a process of its own. */
  const startRunner = (given: SignalAt) =>
    mainProcess<Said>(t, 'runner-main', [JSON.stringify({ databaseUrl, eventStoreUrl: store.url, at: '', nth: 1, ...given })])

  const revisions = new Map<string, bigint>()
  let assistantIds = 0

  async function append (told: Told): Promise<bigint> {
    const { stream } = told
    const { revision, position } = await streams.append(stream, [proposed(told)], revisions.get(stream) ?? noStream)
    revisions.set(stream, revision)
    return position
  }

  /** An assistant and what happens to it: of many nothing special, of a few what is refused by us or by Postgres. */
  async function something (): Promise<bigint> {
    const id = ++assistantIds
    await append(assistantCreated(id))
    if (id % 7 === 0) await append({ stream: `assistant-${id}`, type: 'AssistantUpdated', data: { nonsense: true } })
    if (id % 5 === 0) return await append(assistantUpdated(id, { assistant_name: 'refused' }))
    return await append(assistantUpdated(id, { assistant_name: `Name ${id}` }))
  }

  /** Writes until it is stopped. */
  function writing (t: Test): () => Promise<bigint> {
    let isOver = false
    const writes = (async () => {
      let last = 0n
      for (; !isOver; await delay(writeEveryMs)) last = await something()
      return last
    })()
    const stop = () => { isOver = true; return writes }
    t.teardown(stop)
    return stop
  }

  /** Rows and checkpoint of one instant, beside the fold of the log up to there. @returns the checkpoint */
  async function rowsAreTheFold (t: Test, message: string): Promise<bigint> {
    const { position, rows } = await inTransaction(pool, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      const { rows: [checkpoint] } = await tx.query<{ position: string }>('SELECT position FROM read_assistants_g1.checkpoint')
      const { rows } = await tx.query<{ id: number, name: string, revision: number }>('SELECT id::int, name, revision::int FROM read_assistants_g1.assistants ORDER BY id')
      return { position: BigInt(checkpoint?.position ?? 0), rows }
    })
    const log = (await eventsAfter(client, 0n)).filter((event) => event.position <= position)
    const wanted = [...assistantModel(log, (name) => name !== 'refused').wanted].map(([id, row]) => ({ id, name: Reflect.get(row, 'name'), revision: Reflect.get(row, 'revision') }))
    t.strictSame(rows, wanted.sort((a, b) => Number(a.id) - Number(b.id)), message)
    return position
  }

  const expireLease = () => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'")

  /** The epoch of the last owner that came as far as its checkpoint. */
  const claimedBy = async () => Number((await pool.query<{ epoch: string }>('SELECT epoch FROM read_assistants_g1.checkpoint')).rows[0]?.epoch)

  /** Another projector, in this process. */
  function standby (t: Test) {
    const stopping = new AbortController()
    const options = { pool, streams, holder: 'standby', signal: stopping.signal, log: keepingLog() }
    const running = runSubscription(generationConsumer(assistants, 1, pool), options)
    const stop = async () => { stopping.abort(); await running }
    t.teardown(stop)
    return stop
  }

  async function reached (position: bigint): Promise<void> {
    await eventually(async () => BigInt((await pool.query<{ position: string }>('SELECT position FROM read_assistants_g1.checkpoint')).rows[0]?.position ?? 0) >= position)
  }

  return { pool, startRunner, something, writing, rowsAreTheFold, expireLease, claimedBy, standby, reached }
}
