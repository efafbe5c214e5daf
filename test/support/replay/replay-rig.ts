// A log and databases in which projections are replayed while others write, project and read.
import { openSealing } from '../../../src/services/connections.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { keySettings } from '../auth/secrets.js'
import { appender } from '../events/appender.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, type Told } from '../events/call-events.js'
import { replayDatabase, type DatabaseOptions, type ReplayDatabase } from './replay-database.js'
import { eventStoreOn, scratchEventStore } from '../back-ends/scratch-event-store.js'
import { scratchLedger } from '../postgres/ledger.js'
import type { ScratchPostgres } from '../back-ends/scratch-postgres.js'
import type { Teardown } from '../teardown.js'

export interface ReplayRig {
  postgres: ScratchPostgres
  eventStoreUrl: string
  streams: Streams
  /** Stops the event store, and starts it again at the same place. */
  restartEventStore (): Promise<void>
  /** Appends events to their streams, and answers the position of the last one. */
  append (told: Told[]): Promise<bigint>
  /** A migrated database of its own, with empty read models. */
  database (t: Teardown, given?: DatabaseOptions): Promise<ReplayDatabase>
}

/** `isSealed`: what a process of the service is to read as well, which takes no person in plain. */
type RigOptions = Parameters<typeof scratchEventStore>[1] & { isSealed?: boolean }

/** On back ends of its own, or on those given. */
export async function replayRig (t: Teardown, given: RigOptions = {}): Promise<ReplayRig> {
  const { postgres, store, connection } = await scratchEventStore(t, given)
  const raw = new EventLog(connection)
  const streams = given.isSealed ? await sealed(t, raw) : raw
  const append = appender(streams)
  return {
    postgres,
    eventStoreUrl: store.url,
    streams,
    async restartEventStore () {
      await store.close()
      const again = await eventStoreOn(postgres.url, store.port)
      t.teardown(() => again.close())
    },
    append: (told) => append(...told),
    database: (t, given) => replayDatabase(t, { postgres, streams, watching: {}, head: 0n, ...given })
  }
}

async function sealed (t: Teardown, raw: Streams): Promise<Streams> {
  const { pool } = await scratchLedger(t)
  const { streams, personKeys } = openSealing(raw, pool, keySettings)
  t.teardown(() => personKeys.close())
  return streams
}

/** Two updates, a lead with a contact and a call of each of `count` assistants, with ids from `first` on. */
export function history (count: number, first = 0): Told[] {
  return Array.from({ length: count }, (_, place): Told[] => {
    const [index, user] = [first + place, String(place % 3)]
    return [
      assistantCreated(index + 1, {}, user),
      assistantUpdated(index + 1, { assistant_name: `Name ${index}`, variables: { b: 1, a: index } }, user),
      leadCreated(index * 10 + 10, 10, [index * 10 + 11], user),
      callCompleted(`c${index}`, { assistant_id: index + 1, lead_id: index * 10 + 10 + index % 2 })
    ]
  }).flat()
}
