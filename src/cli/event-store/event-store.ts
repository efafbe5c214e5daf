// `ringledger event-store`: the embedded event store alone, for tools and tests that speak its protocol.
import { say } from '../output.js'

/** Prints `LISTENING <port>` when it answers. Events are in DATABASE_URL, or in the embedded Postgres of DATA_DIR. */
export async function serveEventStore ({ port }: { port: number }): Promise<void> {
  const [{ readPlaces }, { openBackEnds }, { Shutdown }] = await Promise.all([
    import('../running.js'), import('../running.js'), import('../shutdown.js')
  ])
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
