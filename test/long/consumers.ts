// What reads the log in the process of the test, each as a process of its own does: so any of them can be away, and has
// nothing in memory when it comes back.
import { randomUUID } from 'node:crypto'
import { feedGenerations } from '../../projections/engine/feed.js'
import { projections } from '../../projections/index.js'
import { openSealing } from '../../src/services/connections.js'
import { EventLog } from '../../src/log/event-log.js'
import { runSubscription } from '../../src/subscriptions/run.js'
import { dispatcher } from '../../workers/dispatch/dispatch.js'
import { connectionTo } from '../support/back-ends/scratch-event-store.js'
import { keepingLog } from '../support/postgres/ledger.js'
import type { TestService } from '../support/service.js'
import type { Teardown } from '../support/teardown.js'

/**
 * On a service that has none. What else there is to project is projected all the time.
 * @param pool of what reads
 * @returns what starts a reader, and what stops it
 */
export function consumers (t: Teardown, { config, parts, urls }: TestService, pool = parts.pool) {
  const connection = connectionTo(t, urls.eventStoreUrl)
  const running = new Map<string, () => Promise<void>>()
  const others = projections.filter(({ name }) => name !== 'leads' && name !== 'calls').map(({ name }) => name)
  for (const name of others) start(name)
  t.teardown(() => Promise.all([...running.keys()].map(stop)))
  return { start, stop }

  /** @param projection of a release of its own, under another name */
  function start (name: string, projection = projections.find((known) => known.name === name)): void {
    const stopping = new AbortController()
    const { streams } = openSealing(new EventLog(connection), pool, config)
    const options = {
      pool, streams, holder: `test ${randomUUID()}`, signal: stopping.signal, log: keepingLog(), checkEveryMs: 50
    }
    const done = projection
      ? feedGenerations([projection], options)
      : runSubscription(dispatcher({ pool, firstDelayMs: 0, wake () {}, log: options.log }), options)
    running.set(name, async () => {
      stopping.abort()
      await done
    })
  }

  async function stop (name: string): Promise<void> {
    await running.get(name)?.()
    running.delete(name)
  }
}
