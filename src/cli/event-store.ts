// `ringledger event-store`: the embedded event store alone, for tools and tests that speak its protocol.
import { withCaFile } from '../log/client-url.js'
import { EventStoreConnection } from '../log/connection.js'
import { EventLog } from '../log/event-log.js'
import { reachableHead } from '../services/back-end-unreachable.js'
import { closing, presentStore } from './events.js'
import { printJson, say } from './output.js'
import { openBackEnds, readPlaces } from './running.js'
import { operate, Shutdown } from './shutdown.js'

/** Prints `LISTENING <port>` when it answers. Events are in DATABASE_URL, or in the embedded Postgres of DATA_DIR. */
export async function serve ({ port }: { port: number }): Promise<void> {
  const { places: { databaseUrl }, config } = readPlaces()
  // The URL keeps a second embedded event store from starting: only Postgres is opened below this one.
  const settings = { ...config, backEnds: { databaseUrl, eventStoreUrl: 'esdb://here' } }
  const shutdown = new Shutdown()
  const listening = await shutdown.during(async (signal) => {
    const { listenOnce } = await import('@ringledger/embedded-postgres')
    const listening = { port, assertCanListen: async () => { await listenOnce(port) } }
    const opened = await openBackEnds(settings, { role: 'start', command: 'ringledger event-store', makes: 'all', listening })
    shutdown.add(opened.close)
    shutdown.onLost(opened.lost)
    signal.throwIfAborted()
    const { startEventStore } = await import('@ringledger/embedded-event-store')
    const store = await startEventStore({ databaseUrl: opened.urls.databaseUrl, port, log: say })
    shutdown.add(store.close)
    shutdown.onLost(store.lost)
    return store.port
  })
  process.stdout.write(`LISTENING ${listening}\n`)
}

/** A real server has other users and several members with files of their own: when it scavenges is not ours to say. */
const ofOperator = 'EVENTSTORE_URL leads to a real server, whose operator scavenges it: as a user of ' +
  '$admins or $ops, for each member, curl -X POST https://MEMBER:2113/admin/scavenge -u USER:PASSWORD; ' +
  'docs/eventstoredb.md, "Scavenging"'

/** Removes for good what nobody can read any more. @throws when the event store is a real server */
export async function scavenge ({ json }: { json?: boolean }): Promise<void> {
  const { scavengeId, events, bytes } = await operate('stopped: the event store goes on by itself', async ({ signal }) => {
    const place = await presentStore('ringledger event-store scavenge')
    try {
      const url = withCaFile(place.url, place.caFile)
      const connection = new EventStoreConnection(url)
      return await closing(connection, signal, async () => {
        const streams = new EventLog(connection)
        await reachableHead({ url }, () => streams.head())
        const scavenged = await streams.scavenge()
        if (!scavenged) throw new Error(ofOperator)
        return scavenged
      })
    } finally {
      await place.close()
    }
  })
  if (json) return printJson({ scavenge_id: scavengeId, events, bytes })
  process.stdout.write(`Removed ${events} events with ${bytes} bytes of data and metadata.\n`)
}
