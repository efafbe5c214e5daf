// `ringledger event-store`: the embedded event store alone, for tools and tests that speak its protocol.
import { loadConfig } from '../config.js'
import { openBackEnds, say } from './running/back-ends.js'
import { onShutdown } from './running/shutdown.js'

/** Prints `LISTENING <port>` when it answers; its events are in DATABASE_URL, or in the embedded Postgres of DATA_DIR. */
export async function serveEventStore (port: number): Promise<void> {
  const { DATA_DIR, DATABASE_URL } = process.env
  // The event store is what runs here: only Postgres may be needed below it.
  const config = { ...loadConfig({ DATA_DIR }), backEnds: { databaseUrl: DATABASE_URL || undefined, eventStoreUrl: 'esdb://here' } }
  const shutdown = onShutdown()
  const listening = await shutdown.during(async (signal) => {
    const backEnds = await openBackEnds(config, 'start', 'ringledger event-store')
    shutdown.add(backEnds.close)
    shutdown.onLost(backEnds.lost)
    signal.throwIfAborted()
    const { startEventStore } = await import('../embedded/event-store/server.js')
    const store = await startEventStore({ databaseUrl: backEnds.urls.databaseUrl, port, log: say })
    shutdown.add(store.close)
    shutdown.onLost(store.lost)
    return store.port
  })
  process.stdout.write(`LISTENING ${listening}\n`)
}
