// An event store that restarts under its clients, who reach it at one address all the time.
import { startEventStore } from '../../src/embedded/event-store/server.js'
import { tcpProxy } from './tcp-proxy.js'

interface Teardown { teardown (undo: () => unknown): void }

export interface RestartedEventStore {
  url: string
  /** Ends it with all its connections, and starts it again on the same events. */
  restart (): Promise<void>
}

export async function restartedEventStore (t: Teardown, databaseUrl: string): Promise<RestartedEventStore> {
  let store = await startEventStore({ databaseUrl })
  t.teardown(() => store.close())
  const proxy = await tcpProxy(t, store.port)
  return {
    url: `esdb://127.0.0.1:${proxy.port}?tls=false`,
    async restart () {
      await store.close()
      proxy.cut()
      store = await startEventStore({ databaseUrl })
      proxy.leadTo(store.port)
    }
  }
}
