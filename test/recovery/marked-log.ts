// One log and two databases for what markers say of both. Each test takes them as new ones.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { idKinds } from '../../src/domain/json.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { noStream, EventLog, type Streams } from '../../src/log/event-log.js'
import type { Taken } from '../../src/log/follow.js'
import { type MarkerOptions, readDatabaseState, writeMarker } from '../../src/recovery/markers.js'
import { refuseOtherLog } from '../../src/recovery/same-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import type { Teardown } from '../support/teardown.js'

export async function markedLogs (t: Teardown) {
  const ledgers = [await scratchLedger(t), await scratchLedger(t)] as const
  const [one, other] = await Promise.all(ledgers.map(async ({ postgres }) => await scratchEventStore(t, { postgres })))
  if (!one || !other) throw new Error('there are two')
  return {
    client: one.client,
    /** The log, without markers, settings and catalogue. */
    log: () => unmarked(new EventLog(one.connection)),
    /** Another log. */
    otherLog: () => new EventLog(other.connection),
    /** As made anew beside `streams`; `second` is a second one. */
    async database (streams: Streams, second = false) {
      const { pool } = ledgers[second ? 1 : 0]
      await startOver(pool)
      return {
        pool,
        write: (given: Partial<MarkerOptions> = {}) => writeMarker({ pool, streams, ...given }),
        state: () => readDatabaseState(pool, streams),
        moveTo: (position: bigint) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = $1', [position]),
        /** The dispatcher has read up to this event. */
        take: ({ id, position }: Taken) => pool.query(
          'UPDATE ledger.dispatcher_checkpoint SET position = $1, event_position = $1, event_id = $2', [position, id]),
        hold: (others: Streams = streams) => refuseOtherLog(pool, others, [])
      }
    }
  }
}

const startOver = (pool: Pool) => pool.query([
  'DELETE FROM ledger.markers',
  'UPDATE ledger.this_database SET id = gen_random_uuid()',
  'UPDATE ledger.dispatcher_checkpoint SET position = 0, event_position = NULL, event_id = NULL',
  ...idKinds.map((kind) => `ALTER SEQUENCE ledger.${kind}_ids RESTART`)
].join('; '))

/** The log, with streams of its own in the place of those that every log has. */
function unmarked (log: EventLog): Streams & { nameOf (stream: string): string } {
  const prefix = `${randomUUID()}-`
  const nameOf = (stream: string) => /^(ringledger|catalog)-/.test(stream) ? prefix + stream : stream
  const back = (event: StoredEvent) => ({ ...event, stream: event.stream.replace(prefix, '') })
  return {
    ...log,
    nameOf,
    append: (stream, ...given) => log.append(nameOf(stream), ...given),
    read: async (stream, ...given) => (await log.read(nameOf(stream), ...given)).map(back),
    visit: (stream, from, take, ...given) => log.visit(nameOf(stream), from, (event) => take(back(event)), ...given),
    limitOf: (stream) => log.limitOf(nameOf(stream)),
    async last (stream) {
      const event = await log.last(nameOf(stream))
      return event && back(event)
    }
  }
}

/** An event of another program. */
export async function happen (streams: Pick<Streams, 'append'>) {
  const id = randomUUID()
  return { id, ...await streams.append(`test-${id}`, [{ id, type: 'Happened', data: {}, metadata: {} }], noStream) }
}

/** Lets a log go on until it is further than this position. */
export async function growPast (streams: Pick<Streams, 'append' | 'head'>, position: bigint): Promise<void> {
  while (await streams.head() <= position) {
    const events = Array.from({ length: 50 }, () => ({ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }))
    await streams.append(`test-${randomUUID()}`, events, noStream)
  }
}
